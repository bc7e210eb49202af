// The program needs no other functions.
