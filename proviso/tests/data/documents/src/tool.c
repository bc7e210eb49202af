// The program that `./configure` and `make` build.
int parse(const char *text) { return text[0] == '-'; }

int main(int argc, char **argv) { return argc > 1 && parse(argv[1]); }
