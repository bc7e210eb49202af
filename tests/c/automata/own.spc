// A device is opened for a number of uses, used at most that often, and closed; at most two devices are open at a time.
automaton device for each d {
    int left = 0;

    state closed {
        return device_open(n) = d if d >= 0 { left = n; assert n >= 1 "a device is opened for nothing"; } -> open;
        call device_send(d, _) -> error "a device is used that is not open";
        call device_close(d) -> error "a device is closed that is not open";
    }
    state open {
        call device_send(d, byte) if byte >= 0 { left = left - 1; assert left >= 0 "a device is used too often"; };
        call device_send(d, byte) -> error "a negative byte is sent";
        call device_close(d) { left = 0; } -> closed;
        end -> error "a device is open at the end";
    }
}

automaton order {
    int depth = 0;
    state outside {
        call enter() { depth = depth + 1; } -> inside;
        call leave() -> error "left before it was entered";
    }
    state inside {
        call enter() if depth < 3 { depth = depth + 1; };
        call enter() -> error "entered more than three times";
        call leave() if depth == 1 { depth = 0; } -> outside;
        call leave() { depth = depth - 1; };
        end { assert depth == 0 || depth > 3 "not left"; };
    }
}
