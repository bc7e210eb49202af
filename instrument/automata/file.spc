// Streams of stdio.h: not used after they are closed, and closed when the program ends. Of streams that
// the program did not open itself (stdin, stdout, stderr) only what happens after they are closed.
automaton file for each f {
    state unknown {
        return fopen(_, _) = f if f != NULL -> open;
        return fdopen(_, _) = f if f != NULL -> open;
        return tmpfile() = f if f != NULL -> open;
        call fclose(f) if f == NULL -> error "fclose of a null pointer";
        call fclose(f) -> closed;
        call fgetc|getc|feof|ferror|clearerr|rewind|ftell|fileno(f) if f == NULL -> error "a null pointer is used as a stream";
        call fgets(_, _, f) if f == NULL -> error "a null pointer is used as a stream";
        call fputs|fputc|putc|ungetc(_, f) if f == NULL -> error "a null pointer is used as a stream";
        call fprintf|fscanf|vfprintf(f, ...) if f == NULL -> error "a null pointer is used as a stream";
        call fread|fwrite(_, _, _, f) if f == NULL -> error "a null pointer is used as a stream";
        call fseek(f, _, _) if f == NULL -> error "a null pointer is used as a stream";
    }
    state open {
        call fclose(f) -> closed;
        end -> error "a stream is not closed when the program ends";
    }
    state closed {
        return fopen(_, _) = f -> open;
        return fdopen(_, _) = f -> open;
        return tmpfile() = f -> open;
        call fclose(f) -> error "a stream is closed twice";
        call fgetc|getc|feof|ferror|clearerr|rewind|ftell|fileno(f) -> error "a stream is used that was closed";
        call fflush(f) -> error "a stream is used that was closed";
        call fgets(_, _, f) -> error "a stream is used that was closed";
        call fputs|fputc|putc|ungetc(_, f) -> error "a stream is used that was closed";
        call fprintf|fscanf|vfprintf(f, ...) -> error "a stream is used that was closed";
        call fread|fwrite(_, _, _, f) -> error "a stream is used that was closed";
        call fseek(f, _, _) -> error "a stream is used that was closed";
    }
}
