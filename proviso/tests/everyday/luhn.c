/* Checks the number of a credit card and names its issuer. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    char number[64], digits[64];
    int count = 0, sum = 0;
    if (!fgets(number, sizeof number, stdin)) {
        fprintf(stderr, "no number\n");
        return 2;
    }
    for (int i = 0; number[i] && number[i] != '\n'; i++) {
        if (isdigit((unsigned char)number[i])) {
            digits[count++] = number[i];
        } else if (number[i] != ' ' && number[i] != '-') {
            fprintf(stderr, "bad character\n");
            return 2;
        }
    }
    digits[count] = '\0';
    if (count < 12 || count > 19) {
        puts("wrong length");
        return 1;
    }
    for (int i = 0; i < count; i++) {
        int d = digits[count - 1 - i] - '0';
        if (i % 2) {
            d *= 2;
            if (d > 9)
                d -= 9;
        }
        sum += d;
    }
    if (sum % 10) {
        puts("invalid");
        return 1;
    }
    if (digits[0] == '4')
        puts("Visa");
    else if (digits[0] == '5' && digits[1] >= '1' && digits[1] <= '5')
        puts("Mastercard");
    else if (strncmp(digits, "34", 2) == 0 || strncmp(digits, "37", 2) == 0)
        puts("American Express");
    else
        puts("valid");
    return 0;
}
