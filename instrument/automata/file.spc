// Streams of stdio.h: they are not used before they are opened or after they are closed, and they are closed when the program
// ends. Streams that the program did not open (stdin, stdout, stderr; and if execution starts at another function than main,
// all streams of its caller) may be used, or closed once.
automaton file for each f {
    given unknown;

    state closed {
        start stdin|stdout|stderr = f -> unknown;
        return fopen|fopen64|fdopen|popen|setmntent(_, _) = f if f != NULL -> open;
        return tmpfile|tmpfile64() = f if f != NULL -> open;
        return fmemopen(_, _, _) = f if f != NULL -> open;
        return fopencookie = f if f != NULL -> open;
        return open_memstream|open_wmemstream(_, _) = f if f != NULL -> open;
        call fclose|pclose|endmntent(f) if f == NULL -> error "a null pointer is closed as a stream";
        call fclose|pclose|endmntent(f) -> error "a stream is closed that is not open";
        call freopen|freopen64(_, _, f) -> error "a stream is reopened that is not open";
        call fflush(f) if f != NULL -> error "a stream is used that is not open";
        call fgetc|getc|getc_unlocked|fgetc_unlocked|feof|feof_unlocked|ferror|ferror_unlocked|clearerr|clearerr_unlocked|rewind|ftell|ftello|fileno|fileno_unlocked(f) if f == NULL -> error "a null pointer is used as a stream";
        call fgetc|getc|getc_unlocked|fgetc_unlocked|feof|feof_unlocked|ferror|ferror_unlocked|clearerr|clearerr_unlocked|rewind|ftell|ftello|fileno|fileno_unlocked(f) -> error "a stream is used that is not open";
        call fgets|fgets_unlocked|getline(_, _, f) if f == NULL -> error "a null pointer is used as a stream";
        call fgets|fgets_unlocked|getline(_, _, f) -> error "a stream is used that is not open";
        call fputs|fputc|putc|putc_unlocked|fputc_unlocked|fputs_unlocked|ungetc(_, f) if f == NULL -> error "a null pointer is used as a stream";
        call fputs|fputc|putc|putc_unlocked|fputc_unlocked|fputs_unlocked|ungetc(_, f) -> error "a stream is used that is not open";
        call fprintf|vfprintf|__fprintf_chk|__vfprintf_chk|fscanf|vfscanf|setvbuf|setbuf|setbuffer|setlinebuf|fgetpos|fsetpos(f, ...) if f == NULL -> error "a null pointer is used as a stream";
        call fprintf|vfprintf|__fprintf_chk|__vfprintf_chk|fscanf|vfscanf|setvbuf|setbuf|setbuffer|setlinebuf|fgetpos|fsetpos(f, ...) -> error "a stream is used that is not open";
        call fread|fread_unlocked|fwrite|fwrite_unlocked|getdelim|__getdelim|__fgets_chk(_, _, _, f) if f == NULL -> error "a null pointer is used as a stream";
        call fread|fread_unlocked|fwrite|fwrite_unlocked|getdelim|__getdelim|__fgets_chk(_, _, _, f) -> error "a stream is used that is not open";
        call fseek|fseeko(f, _, _) if f == NULL -> error "a null pointer is used as a stream";
        call fseek|fseeko(f, _, _) -> error "a stream is used that is not open";
    }
    state unknown {
        call fclose|pclose|endmntent(f) if f == NULL -> error "a null pointer is closed as a stream";
        call fgetc|getc|getc_unlocked|fgetc_unlocked|feof|feof_unlocked|ferror|ferror_unlocked|clearerr|clearerr_unlocked|rewind|ftell|ftello|fileno|fileno_unlocked(f) if f == NULL -> error "a null pointer is used as a stream";
        call fgets|fgets_unlocked|getline(_, _, f) if f == NULL -> error "a null pointer is used as a stream";
        call fputs|fputc|putc|putc_unlocked|fputc_unlocked|fputs_unlocked|ungetc(_, f) if f == NULL -> error "a null pointer is used as a stream";
        call fprintf|vfprintf|__fprintf_chk|__vfprintf_chk|fscanf|vfscanf|setvbuf|setbuf|setbuffer|setlinebuf|fgetpos|fsetpos(f, ...) if f == NULL -> error "a null pointer is used as a stream";
        call fread|fread_unlocked|fwrite|fwrite_unlocked|getdelim|__getdelim|__fgets_chk(_, _, _, f) if f == NULL -> error "a null pointer is used as a stream";
        call fseek|fseeko(f, _, _) if f == NULL -> error "a null pointer is used as a stream";
    }
    state unknown, open {
        call fclose|pclose|endmntent(f) -> closed;
        return freopen|freopen64(_, _, f) = r if r == NULL && f != NULL -> closed;
        return fopen|fopen64|fdopen|popen|setmntent(_, _) = f if f != NULL -> open;
        return tmpfile|tmpfile64() = f if f != NULL -> open;
        return fmemopen(_, _, _) = f if f != NULL -> open;
        return fopencookie = f if f != NULL -> open;
        return open_memstream|open_wmemstream(_, _) = f if f != NULL -> open;
    }
    state open {
        end -> error "a stream is not closed when the program ends";
    }
}
