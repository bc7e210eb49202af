// Pairs of malloc and free: a freed object was allocated and is not freed yet, and all objects are freed when the program ends.
// (--check address,leak checks the use of the memory in between.)
automaton heap for each p at most 32 {
    state free {
        return malloc(_) = p if p != NULL -> allocated;
        return calloc(_, _) = p if p != NULL -> allocated;
        return realloc(_, _) = p if p != NULL -> allocated;
        return strdup(_) = p if p != NULL -> allocated;
        return strndup(_, _) = p if p != NULL -> allocated;
        return aligned_alloc|memalign(_, _) = p if p != NULL -> allocated;
        return valloc|pvalloc(_) = p if p != NULL -> allocated;
        return reallocarray(_, _, _) = p if p != NULL -> allocated;
        return wcsdup(_) = p if p != NULL -> allocated;
        return realpath(_, r) = p if p != NULL && r == NULL -> allocated;
        return getcwd(b, _) = p if p != NULL && b == NULL -> allocated;
        return asprintf|__asprintf_chk(*p, ...) = n if n >= 0 -> allocated;
        return vasprintf|__vasprintf_chk(*p, ...) = n if n >= 0 -> allocated;
        return posix_memalign(*p, _, _) = error if error == 0 && p != NULL -> allocated;
        return getline|getdelim|__getdelim(*p, ...) if p != NULL -> allocated;
        call free(p) if p != NULL -> error "free of what malloc did not give, or of what is free already";
        call reallocarray(p, _, _) if p != NULL -> error "realloc of what malloc did not give, or of what is free already";
        call realloc(p, _) if p != NULL -> error "realloc of what malloc did not give, or of what is free already";
    }
    state allocated {
        call free(p) -> free;
        call realloc(p, n) if n == 0 -> free;
        call getline|getdelim|__getdelim(*p, ...) -> free;
        return realloc(p, _) = q if q != NULL -> free;
        return reallocarray(p, _, _) = q if q != NULL -> free;
        end -> error "memory is not freed when the program ends";
    }
}
