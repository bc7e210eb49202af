// The program of the commands on `list.c`. `insert` does not handle the end of the list.
struct node {
    int value;
    struct node *next, *previous;
};

void insert(struct node *list, struct node *node) {
    node->next = list->next;
    node->previous = list;
    list->next->previous = node;
    list->next = node;
}

int main(void) { return 0; }
