#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
    int c, width = 80, all = 0; const char *out = NULL;
    while ((c = getopt(argc, argv, "aw:o:h")) != -1) {
        switch (c) {
        case 'a': all = 1; break;
        case 'w': width = atoi(optarg); if (width <= 0 || width > 500) { fputs("bad width\n", stderr); return 1; } break;
        case 'o': out = optarg; break;
        case 'h': puts("help"); return 0;
        default: return 2;
        }
    }
    if (optind >= argc) { fputs("no file\n", stderr); return 3; }
    if (all && width > 100) puts("wide");
    if (out && out[0] == '-') puts("stdout");
    return 0;
}
