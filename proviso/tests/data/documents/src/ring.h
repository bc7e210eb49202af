int next_slot(int slot, int slots);
