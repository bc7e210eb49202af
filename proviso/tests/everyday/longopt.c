/* Long options: --size WxH, --format NAME, --verbose, --version. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"size", required_argument, NULL, 's'},
        {"format", required_argument, NULL, 'f'},
        {"verbose", no_argument, NULL, 'v'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    int option, width = 640, height = 480, verbose = 0;
    const char *format = "png";
    while ((option = getopt_long(argc, argv, "s:f:v", options, NULL)) != -1) {
        switch (option) {
        case 's':
            if (sscanf(optarg, "%dx%d", &width, &height) != 2 || width <= 0 || height <= 0) {
                fprintf(stderr, "bad size %s\n", optarg);
                return 1;
            }
            break;
        case 'f':
            if (strcmp(optarg, "png") && strcmp(optarg, "jpeg")) {
                fprintf(stderr, "unknown format %s\n", optarg);
                return 1;
            }
            format = optarg;
            break;
        case 'v':
            verbose++;
            break;
        case 'V':
            puts("1.0");
            return 0;
        default:
            return 2;
        }
    }
    if (verbose >= 2)
        printf("%dx%d %s\n", width, height, format);
    if (width > 4096 && strcmp(format, "jpeg") == 0)
        puts("a large picture");
    for (; optind < argc; optind++)
        puts(argv[optind]);
    return 0;
}
