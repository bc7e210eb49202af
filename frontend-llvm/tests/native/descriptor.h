// Open files of all kinds, for drivers of functions with descriptors as arguments.
#pragma once
#include "harness.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

// The open files of a run of the library. The next run closes them.
static int opened[16];
static unsigned opened_count;
static int keep(int file) {
    if (file >= 0)
        opened[opened_count++] = file;
    return file;
}
static void close_all(void) {
    while (opened_count > 0)
        close(opened[--opened_count]);
}

// A descriptor of a device, a file with some bytes, an end of a pipe, a folder, or a socket, or an invalid descriptor.
enum { KINDS = 8 };
static int descriptor_of(unsigned kind) {
    asks_environment();
    unsigned size = random_below(40);
    int file = -1;
    NATIVELY {
        close_all();
        int ends[2];
        switch (kind) {
        case 0:
            file = keep(open("/dev/null", O_RDWR));
            break;
        case 1:
        case 2:
            file = keep(memfd_create("driver", 0));
            for (unsigned i = 0; i < size; i++)
                (void)!write(file, &"some text"[i % 9], 1);
            lseek(file, size / 3, SEEK_SET);
            break;
        case 3:
            if (pipe2(ends, O_NONBLOCK) == 0) {
                file = keep(ends[0]);
                (void)!write(keep(ends[1]), "some text in a pipe, as long as that", size < 36 ? size : 36);
            }
            break;
        case 4:
            if (pipe2(ends, O_NONBLOCK) == 0) {
                keep(ends[0]);
                file = keep(ends[1]);
            }
            break;
        case 5:
            file = keep(open("/", O_RDONLY));
            break;
        case 6:
            if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0) {
                file = keep(ends[0]);
                (void)!write(keep(ends[1]), "some text in a socket, as long as that", size < 38 ? size : 38);
            }
            break;
        default:
            file = size % 2 ? -1 : 999;
        }
    }
    return RECALL(file);
}
static int descriptor(void) { return descriptor_of(random_below(KINDS)); }

static size_t some_size(void) { return random_below(4) ? random_below(48) : 0; }

// Suggests the text that the library stored.
static void suggest_text(const char *text) {
    NATIVELY {
        suggest(0);
        suggest(strlen(text));
        suggest_bytes(text, strlen(text));
    }
}
