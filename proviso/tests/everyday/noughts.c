/* A referee of noughts and crosses: reads moves "row column". */
#include <stdio.h>

static char board[3][3];

static int wins(char who)
{
    for (int i = 0; i < 3; i++) {
        if (board[i][0] == who && board[i][1] == who && board[i][2] == who)
            return 1;
        if (board[0][i] == who && board[1][i] == who && board[2][i] == who)
            return 1;
    }
    if (board[0][0] == who && board[1][1] == who && board[2][2] == who)
        return 1;
    return board[0][2] == who && board[1][1] == who && board[2][0] == who;
}

int main(void)
{
    int row, column, moves = 0;
    char who = 'X';
    while (moves < 9) {
        if (scanf("%d%d", &row, &column) != 2) {
            puts("aborted");
            return 1;
        }
        if (row < 0 || row > 2 || column < 0 || column > 2) {
            puts("outside");
            continue;
        }
        if (board[row][column]) {
            puts("taken");
            continue;
        }
        board[row][column] = who;
        moves++;
        if (wins(who)) {
            printf("%c wins\n", who);
            return 0;
        }
        who = who == 'X' ? 'O' : 'X';
    }
    puts("draw");
    return 0;
}
