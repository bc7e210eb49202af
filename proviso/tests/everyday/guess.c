/* The user guesses a number. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int secret = argc > 1 ? atoi(argv[1]) : 42;
    int tries = 0, guess;
    if (secret < 1 || secret > 100) {
        puts("the secret must be between 1 and 100");
        return 2;
    }
    for (;;) {
        printf("your guess: ");
        int read = scanf("%d", &guess);
        if (read == EOF) {
            puts("\nbye");
            return 1;
        }
        if (read == 0) {
            int c;
            while ((c = getchar()) != '\n' && c != EOF)
                ;
            puts("a number, please");
            continue;
        }
        tries++;
        if (guess == secret)
            break;
        puts(guess < secret ? "too low" : "too high");
        if (tries == 7) {
            printf("it was %d\n", secret);
            return 1;
        }
    }
    if (tries == 1)
        puts("lucky!");
    printf("%d tries\n", tries);
    return 0;
}
