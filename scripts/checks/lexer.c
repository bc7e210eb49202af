// Lua: the tokens of any eight bytes. An error ends the program (LUAI_THROW).
#include "lua.h"
#include "lauxlib.h"
#include "ldo.h"
#include "lobject.h"
#include "llex.h"
#include "lparser.h"
#include "lstring.h"
#include "ltable.h"
#include "lzio.h"

extern char __VERIFIER_nondet_char(void);

static char bytes[8];
static size_t left = sizeof bytes;

static const char *read_all(lua_State *state, void *data, size_t *size) {
    *size = left;
    left = 0;
    return *size ? bytes : 0;
}

int main(void) {
    for (int i = 0; i < 8; i++)
        bytes[i] = __VERIFIER_nondet_char();
    lua_State *state = luaL_newstate();
    if (!state)
        return 1;
    ZIO input;
    Mbuffer buffer;
    LexState lexer = {0};
    Dyndata data = {0};
    luaZ_init(state, &input, read_all, 0);
    luaZ_initbuffer(state, &buffer);
    lexer.buff = &buffer;
    lexer.dyd = &data;
    lexer.h = luaH_new(state);
    // Values on the stack are not garbage-collected; the parser does the same.
    sethvalue2s(state, state->top.p, lexer.h);
    luaD_inctop(state);
    TString *name = luaS_newliteral(state, "input");
    setsvalue2s(state, state->top.p, name);
    luaD_inctop(state);
    luaX_setinput(state, &lexer, &input, name, zgetc(&input));
    do
        luaX_next(&lexer);
    while (lexer.t.token != TK_EOS);
    return 0;
}
