// Runs a program that makes one change and evaluates one question, for all pairs of a change and a question. `choice` selects them, and `check`
// records the answer. Prints the pairs whose answer differs from that without a change.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern int program(void);

static int chosen[2], answers;

int choice(int which) { return chosen[which]; }
void check(long value) { (void)!write(answers, &value, sizeof value); }

struct answer {
    int given;
    long value;
};

static struct answer run(int change, int question) {
    const char *files[] = {"made", "a.txt", "b.txt", "c.txt", "w.txt"};
    for (int i = 0; i < 5; i++)
        remove(files[i]);
    mkdir("folder", 0777);
    mkdir("empty", 0777);
    close(open("folder/entry", O_CREAT | O_WRONLY, 0666));
    int ends[2];
    if (pipe(ends))
        exit(1);
    pid_t child = fork();
    if (child == 0) {
        chosen[0] = change;
        chosen[1] = question;
        answers = fcntl(ends[1], F_DUPFD, 100);
        close(ends[0]);
        close(ends[1]);
        int input = open("input", O_RDONLY);
        dup2(input, 0);
        close(input);
        int output = open("output", O_RDWR | O_CREAT | O_TRUNC, 0666);
        dup2(output, 1);
        dup2(output, 2);
        close(output);
        alarm(5);
        setenv("HOME", "/", 1);
        unsetenv("TZ");
        program();
        _exit(0);
    }
    close(ends[1]);
    struct answer answer = {0, 0};
    answer.given = read(ends[0], &answer.value, sizeof answer.value) == sizeof answer.value;
    close(ends[0]);
    int status;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV) {
        fprintf(stderr, "change %d or question %d does what C does not define\n", change, question);
        exit(1);
    }
    return answer;
}

static int differ(struct answer a, struct answer b) { return a.given != b.given || a.value != b.value; }

int main(int argc, char **argv) {
    FILE *input = fopen("input", "w");
    fputs("stdin line\n12 34\nmore\n", input);
    fclose(input);
    for (int question = 0; question < atoi(argv[2]); question++) {
        struct answer without = run(-1, question);
        if (differ(without, run(-1, question)))
            continue;
        for (int change = 0; change < atoi(argv[1]); change++) {
            if (differ(without, run(change, question))) {
                // Flush the output, so that child processes do not inherit and repeat it.
                printf("%d %d\n", change, question);
                fflush(stdout);
            }
        }
    }
    return 0;
}
