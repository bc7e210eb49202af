// Defines:
#pragma once
#include "proviso.h"

// Descriptors of open files. A new descriptor is the least one that is not open. Descriptors 0, 1 and 2 are open at the
// start, as POSIX requires. Whether others are open is unknown.

// The greatest descriptor of Linux.
enum { PROVISO_GREATEST_DESCRIPTOR = 0x7fffffbf, PROVISO_KEPT_DESCRIPTORS = 8 };

static struct {
    // All descriptors below are open, except those in `closed`.
    int bound;
    // Closed descriptors; open descriptors that are not below the bound.
    int closed_count, closed[PROVISO_KEPT_DESCRIPTORS], open_count, open[PROVISO_KEPT_DESCRIPTORS];
    // A list overflowed: nothing is known any more, except which of the first three are closed.
    _Bool unknown, closed_standard[3];
} proviso_files = {.bound = 3};

static void proviso_forget_descriptors(void) {
    proviso_files.unknown = 1;
    proviso_files.bound = proviso_files.closed_count = proviso_files.open_count = 0;
}

// Removes a descriptor from a list.
static void proviso_take_out(int *list, int *count, int file) {
    for (int i = 0; i < *count; i++) {
        if (list[i] == file) {
            --*count;
            list[i] = list[*count];
            return;
        }
    }
}

static void proviso_put_in(int *list, int *count, int file) {
    if (*count >= PROVISO_KEPT_DESCRIPTORS) {
        proviso_forget_descriptors();
    } else {
        list[*count] = file;
        ++*count;
    }
}

// The constant properties of an open file, and those that the program changes. Duplicated descriptors share them.
struct proviso_file {
    // True if the program has opened it. Other processes may move the offset of a file that was open before.
    _Bool own;
    // True if a stream or `dprintf` also accesses the file, and maybe more of it than the program requests.
    _Bool of_stream;
    // True if the program has written to it through its descriptors.
    _Bool written;
    // -1 if unknown: whether there are offsets, the offset, whether it is a terminal, the flags of F_GETFL.
    signed char seekable, terminal;
    int flags;
    long long offset;
    // The results of `fstat`.
    _Bool identified;
    unsigned kind;
    unsigned long long device, number;
};

// The known descriptors; for each the number of its file in the table, and the flag of F_GETFD, or -1 if unknown.
static int proviso_known[PROVISO_KEPT_DESCRIPTORS + 1], proviso_file_numbers[PROVISO_KEPT_DESCRIPTORS + 1];
static signed char proviso_closes_on_exec[PROVISO_KEPT_DESCRIPTORS + 1];
// The last element is for files that do not fit the table.
static struct proviso_file proviso_file_table[PROVISO_KEPT_DESCRIPTORS + 1];
static int proviso_known_count, proviso_file_count;
// The program has opened a file that did not fit.
static _Bool proviso_some_unknown;

// Files that are open now are shared with another process of the program.
static void proviso_share_all_files(void) {
    proviso_has_forked = 1;
    for (int file = 0; file < proviso_file_count; file++)
        proviso_file_table[file].own = 0;
}

// Associates a descriptor with the file of this number in the table.
static void proviso_know(int descriptor, int file, int closes_on_exec) {
    unsigned count = proviso_known_count;
    if (count >= PROVISO_KEPT_DESCRIPTORS) {
        __proviso_overapproximated("the program has more open files than are modelled");
        return;
    }
    proviso_known[count] = descriptor;
    proviso_file_numbers[count] = file;
    proviso_closes_on_exec[count] = closes_on_exec;
    proviso_known_count = count + 1;
}

static const struct proviso_file PROVISO_ANY_FILE = {.seekable = -1, .terminal = -1, .flags = -1, .offset = -1};

// Adds a file to the table and associates a descriptor with it. Returns the number of the file.
static int proviso_add_file(int descriptor, struct proviso_file file, int closes_on_exec) {
    unsigned number = proviso_file_count;
    if (number >= PROVISO_KEPT_DESCRIPTORS) {
        __proviso_overapproximated("the program has more open files than are modelled");
        proviso_file_table[PROVISO_KEPT_DESCRIPTORS] = PROVISO_ANY_FILE;
        return PROVISO_KEPT_DESCRIPTORS;
    }
    proviso_file_table[number] = file;
    proviso_know(descriptor, number, closes_on_exec);
    proviso_file_count = number + 1;
    return number;
}

// The number of the file of a known descriptor. The assumption holds always. It bounds the number for analyses that
// follow the table's content only in part.
static int proviso_number_of_file(int known) {
    int file = proviso_file_numbers[known];
    __proviso_assume((unsigned)file <= PROVISO_KEPT_DESCRIPTORS);
    return file;
}

// The index of a descriptor among the known ones, or their number.
static int proviso_find_descriptor(int descriptor) {
    int i = 0;
    while (i < proviso_known_count && proviso_known[i] != descriptor)
        i++;
    return i;
}

// The number of a descriptor's file in the table.
static int proviso_file_number(int descriptor) {
    int i = proviso_find_descriptor(descriptor);
    if (i < proviso_known_count)
        return proviso_number_of_file(i);
    if (proviso_some_unknown)
        __proviso_overapproximated("the program has more open files than are modelled");
    return proviso_add_file(descriptor, PROVISO_ANY_FILE, -1);
}

static struct proviso_file *proviso_file_of(int descriptor) {
    return &proviso_file_table[proviso_file_number(descriptor)];
}

// Dissociates a descriptor from its file.
static void proviso_unknow(int descriptor) {
    int i = proviso_find_descriptor(descriptor);
    int left = proviso_known_count - 1;
    if (i > left)
        return;
    int file = proviso_number_of_file(i);
    proviso_known[i] = proviso_known[left];
    proviso_file_numbers[i] = proviso_file_numbers[left];
    proviso_closes_on_exec[i] = proviso_closes_on_exec[left];
    proviso_known_count = left;
    // The last file is removed if this was its last descriptor.
    _Bool unused = file + 1 == proviso_file_count;
    for (int n = 0; n < left; n++)
        unused &= proviso_file_numbers[n] != file;
    if (unused)
        proviso_file_count = file;
}

// The ends of pipes and sockets from which the program may read what it has written itself. `more` is true if the list overflowed.
static struct {
    int count, ends[PROVISO_KEPT_DESCRIPTORS];
    _Bool more;
} proviso_own_ends;

static void proviso_add_own_end(int file) {
    int count = proviso_own_ends.count;
    if (count >= PROVISO_KEPT_DESCRIPTORS) {
        proviso_own_ends.more = 1;
        return;
    }
    proviso_own_ends.ends[count] = file;
    proviso_own_ends.count = count + 1;
}

// Called before the program reads what it may have written itself. In the model, that is arbitrary.
static void proviso_reads_own_output(void) {
    __proviso_overapproximated("the program reads what it may have written itself: the content of its pipes and files is not modelled");
}

// Called if data of the descriptor are read, or may be read through another descriptor or a stream.
static void proviso_reads_own_end(int file) {
    _Bool is = proviso_own_ends.more;
    for (int i = 0; i < proviso_own_ends.count; i++)
        is |= file == proviso_own_ends.ends[i];
    if (is)
        proviso_reads_own_output();
}

// The last pipe of the program. It is known if it is the only one, and no other descriptor or stream has access to its ends.
static struct {
    int from, to;
    _Bool made, known, is_empty, no_writer;
    // The number of bytes that were written to all files since then.
    size_t written;
} proviso_pipe;

static void proviso_makes_pipe(int from, int to, _Bool blocks) {
    proviso_pipe.known = proviso_pipe.is_empty = blocks && !proviso_pipe.made;
    proviso_pipe.made = 1;
    proviso_pipe.from = from;
    proviso_pipe.to = to;
}

// Records that the pipe is no longer known if this is one of its ends.
static void proviso_shares_pipe(int file) {
    proviso_pipe.known &= (file != proviso_pipe.from) & (file != proviso_pipe.to);
}

// A descriptor that is closed.
static void proviso_closes_pipe(int file) {
    proviso_take_out(proviso_own_ends.ends, &proviso_own_ends.count, file);
    proviso_pipe.known &= file != proviso_pipe.from;
    proviso_pipe.no_writer |= file == proviso_pipe.to;
}

// Waits until a signal ends the program, or until a handler returns. Another process of the program may send the signal.
static void proviso_waits_for_signal(void) {
    if (proviso_handles_signals) {
        __proviso_unmodelled("a handler of a signal may end a wait, which is not modelled");
        return;
    }
    if (proviso_has_forked)
        __proviso_overapproximated("signals between the processes of a program are not modelled");
    proviso_wait_for_ever();
}

// Called before data are read from a file. Other threads may write to a pipe.
static void proviso_waits_for_data(int file, size_t size) {
    if (!proviso_pipe.made || size == 0)
        return;
#ifndef PROVISO_THREADS
    if (proviso_pipe.known && file == proviso_pipe.from && proviso_pipe.is_empty) {
        if (!proviso_pipe.no_writer)
            proviso_waits_for_signal();
        return;
    }
#endif
    proviso_may_wait_for_ever("a read may wait for ever: the data in pipes and sockets of the program are not modelled");
}

// Called after this number of bytes was written to a file. Every pipe has room for 4096 bytes.
static void proviso_puts_into_pipe(int file, ssize_t bytes) {
    if (!proviso_pipe.made)
        return;
    if (proviso_has_forked)
        __proviso_overapproximated("data in pipes between the processes of a program are not modelled");
    proviso_pipe.is_empty &= file != proviso_pipe.to;
    proviso_pipe.written += bytes < 0 ? 0 : bytes;
    if (proviso_pipe.written > 4096)
        proviso_may_wait_for_ever("a write may wait for ever: the room in pipes and sockets of the program is not modelled");
}

// True if the file is a pipe from which nothing can be read.
static _Bool proviso_is_at_end_of_pipe(int file) {
    return proviso_pipe.known & proviso_pipe.is_empty & proviso_pipe.no_writer & (file == proviso_pipe.from);
}

// Makes `descriptor` a duplicate of `of`.
static void proviso_share_file(int descriptor, int of, _Bool closes_on_exec) {
    proviso_reads_own_end(of);
    proviso_take_out(proviso_own_ends.ends, &proviso_own_ends.count, descriptor);
    proviso_shares_pipe(of);
    proviso_shares_pipe(descriptor);
    int file = proviso_file_number(of);
    proviso_unknow(descriptor);
    if (file < PROVISO_KEPT_DESCRIPTORS)
        proviso_know(descriptor, file, closes_on_exec);
}

// True if the descriptor is known not to be open. Does not branch on it.
static _Bool proviso_is_closed(int file) {
    _Bool closed = file < 0;
    for (int i = 0; i < proviso_files.closed_count; i++)
        closed |= file == proviso_files.closed[i];
    for (int i = 0; proviso_files.unknown && i < 3; i++)
        closed |= (file == i) & proviso_files.closed_standard[i];
    return closed;
}

// True if the descriptor is known to be open.
static _Bool proviso_is_open(int file) {
    int bound = proviso_files.unknown ? 3 : proviso_files.bound;
    _Bool open = (file < bound) & !proviso_is_closed(file);
    for (int i = 0; i < proviso_files.open_count; i++)
        open |= file == proviso_files.open[i];
    return open;
}

static void proviso_set_closed_standard(int file, _Bool closed) {
    for (int i = 0; i < 3; i++)
        proviso_files.closed_standard[i] = file == i ? closed : proviso_files.closed_standard[i];
}

// Records that the descriptor is open from now on.
static void proviso_is_open_again(int file) {
    proviso_set_closed_standard(file, 0);
    proviso_take_out(proviso_files.closed, &proviso_files.closed_count, file);
    if (file == proviso_files.bound)
        proviso_files.bound = file + 1;
    if (file < proviso_files.bound)
        return;
    proviso_take_out(proviso_files.open, &proviso_files.open_count, file);
    proviso_put_in(proviso_files.open, &proviso_files.open_count, file);
}

// Records that the descriptor is open from now on, for another file.
static void proviso_duplicates(int file, int of, _Bool closes_on_exec) {
    proviso_share_file(file, of, closes_on_exec);
    proviso_is_open_again(file);
}

// Records that the descriptor is not open from now on.
static void proviso_closed(int file) {
    proviso_closes_pipe(file);
    proviso_unknow(file);
    proviso_set_closed_standard(file, 1);
    proviso_take_out(proviso_files.open, &proviso_files.open_count, file);
    proviso_put_in(proviso_files.closed, &proviso_files.closed_count, file);
}

// Records that `file` is open from now on. It was the least descriptor from `least` on that was not open.
static void proviso_opens(int file, int least) {
    proviso_set_closed_standard(file, 0);
    if (proviso_files.unknown) {
        proviso_unknow(file);
        __proviso_overapproximated("the program opens and closes more files than are modelled");
        return;
    }
    _Bool possible = file >= least, reopened = 0;
    for (int i = 0; i < proviso_files.closed_count; i++) {
        possible &= (proviso_files.closed[i] < least) | (file <= proviso_files.closed[i]);
        reopened |= file == proviso_files.closed[i];
    }
    for (int i = 0; i < proviso_files.open_count; i++)
        possible &= file != proviso_files.open[i];
    __proviso_assume(possible & (reopened | (file >= proviso_files.bound)));
    proviso_unknow(file);
    if (reopened)
        proviso_take_out(proviso_files.closed, &proviso_files.closed_count, file);
    if (file < proviso_files.bound)
        return;
    if (least > proviso_files.bound) {
        proviso_put_in(proviso_files.open, &proviso_files.open_count, file);
        return;
    }
    // All descriptors in between were open. Otherwise this one would not be the least.
    proviso_files.bound = file + 1;
    for (int i = proviso_files.open_count - 1; i >= 0; i--) {
        if (proviso_files.open[i] <= file)
            proviso_take_out(proviso_files.open, &proviso_files.open_count, proviso_files.open[i]);
    }
}

// O_RDONLY, O_WRONLY, O_RDWR and O_NONBLOCK; O_APPEND and O_CLOEXEC; all flags that a file does not keep, with O_CREAT, O_EXCL, O_NOCTTY, O_TRUNC, O_LARGEFILE.
enum { PROVISO_READS, PROVISO_WRITES, PROVISO_READS_AND_WRITES, PROVISO_NONBLOCK = 04000, PROVISO_APPENDS = 02000, PROVISO_CLOSES_ON_EXEC = 02000000, PROVISO_NOT_KEPT = 02101700 };

// A new descriptor (or -1) of a file that is opened with these flags.
static int proviso_new_descriptor(int flags, _Bool may_seek) {
    int file = __proviso_env_descriptor();
    __proviso_assume((file >= -1) & (file <= PROVISO_GREATEST_DESCRIPTOR));
    if (file < 0)
        return -1;
    proviso_opens(file, 0);
#if defined PROVISO_FILES || defined PROVISO_ACCESS
    // With O_CREAT and O_EXCL, it is an ordinary file.
    _Bool is_new = (flags & 0300) == 0300;
    struct proviso_file new = {
        .own = 1, .seekable = may_seek ? (is_new ? 1 : -1) : 0, .terminal = may_seek && !is_new ? -1 : 0, .flags = flags & ~PROVISO_NOT_KEPT};
    if (proviso_file_count < PROVISO_KEPT_DESCRIPTORS && proviso_known_count < PROVISO_KEPT_DESCRIPTORS)
        proviso_add_file(file, new, (flags & PROVISO_CLOSES_ON_EXEC) != 0);
    else
        proviso_some_unknown = 1;
#endif
    return file;
}

// True if the program has opened the file with this access mode. Does not branch on the descriptor.
static _Bool proviso_is_one_way(int file, int mode) {
    _Bool is = 0;
    for (int i = 0; i < proviso_known_count; i++) {
        int flags = proviso_file_table[proviso_number_of_file(i)].flags;
        is |= (file == proviso_known[i]) & (flags >= 0) & ((flags & 3) == mode);
    }
    return is;
}

// Records that this number of bytes was read or written.
static void proviso_move_offset(int file, ssize_t bytes, _Bool writes) {
#ifdef PROVISO_FILES
    if (bytes <= 0)
        return;
    struct proviso_file *of = proviso_file_of(file);
    // The largest offset is the end of the largest file.
    __proviso_assume((of->offset < 0) | (of->offset <= LLONG_MAX - bytes));
    if (of->offset >= 0)
        of->offset = writes && of->flags & PROVISO_APPENDS ? -1 : of->offset + bytes;
#endif
}

// Records that a stream or `dprintf` also accesses the file.
static _Bool proviso_share_with_stream(int file) {
    proviso_reads_own_end(file);
    proviso_shares_pipe(file);
#ifdef PROVISO_FILES
    if (file >= 0)
        proviso_file_of(file)->of_stream = 1;
#endif
    return 1;
}

// Sets the error of a failed operation. For a descriptor that is not open, that is EBADF.
static int proviso_descriptor_error(_Bool closed) {
    int error = proviso_env_error();
    __proviso_assume(!closed | (error == EBADF));
    return error;
}
