// Streams of stdio.h: not used after they are closed, and closed when the program ends. Of streams that
// the program did not open itself (stdin, stdout, stderr) only what happens after they are closed.
automaton file for each f {
    state unknown {
        return fopen(_, _) = f if f != NULL -> open;
        return fdopen(_, _) = f if f != NULL -> open;
        return tmpfile() = f if f != NULL -> open;
        return popen(_, _) = f if f != NULL -> open;
        return fmemopen(_, _, _) = f if f != NULL -> open;
        return open_memstream(_, _) = f if f != NULL -> open;
        call fclose|pclose(f) if f == NULL -> error "a null pointer is closed as a stream";
        call fclose|pclose(f) -> closed;
        return freopen(_, _, f) = r if r == NULL && f != NULL -> closed;
        call fgetc|getc|getc_unlocked|feof|ferror|clearerr|rewind|ftell|ftello|fileno(f) if f == NULL -> error "a null pointer is used as a stream";
        call fgets|getline(_, _, f) if f == NULL -> error "a null pointer is used as a stream";
        call fputs|fputc|putc|putc_unlocked|ungetc(_, f) if f == NULL -> error "a null pointer is used as a stream";
        call fprintf|fscanf|vfprintf|vfscanf|setvbuf|setbuf(f, ...) if f == NULL -> error "a null pointer is used as a stream";
        call fread|fwrite|getdelim(_, _, _, f) if f == NULL -> error "a null pointer is used as a stream";
        call fseek|fseeko(f, _, _) if f == NULL -> error "a null pointer is used as a stream";
    }
    state open {
        call fclose|pclose(f) -> closed;
        return freopen(_, _, f) = r if r == NULL -> closed;
        end -> error "a stream is not closed when the program ends";
    }
    state closed {
        return fopen(_, _) = f -> open;
        return fdopen(_, _) = f -> open;
        return tmpfile() = f -> open;
        return popen(_, _) = f -> open;
        return fmemopen(_, _, _) = f -> open;
        return open_memstream(_, _) = f -> open;
        call freopen(_, _, f) -> error "a stream is used that was closed";
        call fclose|pclose(f) -> error "a stream is closed twice";
        call fgetc|getc|getc_unlocked|feof|ferror|clearerr|rewind|ftell|ftello|fileno(f) -> error "a stream is used that was closed";
        call fflush(f) -> error "a stream is used that was closed";
        call fgets|getline(_, _, f) -> error "a stream is used that was closed";
        call fputs|fputc|putc|putc_unlocked|ungetc(_, f) -> error "a stream is used that was closed";
        call fprintf|fscanf|vfprintf|vfscanf|setvbuf|setbuf(f, ...) -> error "a stream is used that was closed";
        call fread|fwrite|getdelim(_, _, _, f) -> error "a stream is used that was closed";
        call fseek|fseeko(f, _, _) -> error "a stream is used that was closed";
    }
}
