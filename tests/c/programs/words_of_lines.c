// run: => TRUE
// run: --check address -DBUG => FALSE(address)
// Separates lines into words.
#include <stdio.h>
#include <string.h>

int main(void) {
    char line[256];
    unsigned words = 0;
    size_t longest = 0;
    while (fgets(line, sizeof line, stdin)) {
        for (char *word = strtok(line, " \t\n"); word; word = strtok(NULL, " \t\n")) {
            size_t length = strlen(word);
#ifdef BUG
            word[length + 252] = 0; // wrong
#endif
            if (length > longest)
                longest = length;
            words++;
        }
    }
    printf("%u %zu\n", words, longest);
    return 0;
}
