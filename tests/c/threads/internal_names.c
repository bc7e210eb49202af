// run: --property unreach-call --timeout 10 => UNKNOWN
// run: --property unreach-call -DFUNCTIONS --timeout 10 => TRUE
//
// Variables and functions of the program have the names of internal ones of the library models. Two copies at the same
// time may mix their bytes. The models of threads call their own functions.

#include <assert.h>
#include <pthread.h>
#include <string.h>

static char proviso_text[8];
static int counter;

#ifdef FUNCTIONS
int proviso_start(int number) { return number; }
void proviso_finish(void) {}
#endif
static int proviso_run(int number) { return number + 1; }

static void *copy(void *text) {
#ifdef FUNCTIONS
    counter++;
#else
    strcpy(proviso_text, text);
#endif
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, copy, "aa");
#ifndef FUNCTIONS
    strcpy(proviso_text, "bb");
#endif
    pthread_join(thread, NULL);
    assert(proviso_text[0] == proviso_text[1]);
    assert(proviso_run(counter) <= 2);
#ifdef FUNCTIONS
    proviso_finish();
    assert(proviso_start(counter) == 1);
#endif
}
