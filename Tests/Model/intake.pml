/* Two users, two channels: what must not be lost between the spool, the sockets and the engine.
 *
 * Each user's application first commits a credential, a refresh token or an authorization code, then asks for
 * the deletion. Either goes to the spool or to a socket. The service may be killed between any two steps, and
 * sealing may fail. The model follows docs/decisions/0028-requests-wait-for-the-spool.md.
 *
 * The claim: a user is erased only when no token of theirs works, or the receipt names what may still work.
 * A state in which a request waits for ever is an invalid end state, which the verifier reports, too.
 *
 * BUG_1 to BUG_5 each take one rule out; `run` wants each of them to be found.
 */
#define USERS 2
#ifndef KILLS
#define KILLS 1
#endif
#ifndef SEAL_FAILURES
#define SEAL_FAILURES 1
#endif

#define NONE 0
#define ACCEPTED 1
#define REVOKING 2
#define PURGING 3
#define COMPLETED 4

#define PENDING 1
#define EXCHANGING 2
#define SPENT 3

/* The world outside. */
bool works[USERS];              /* the provider honors a token of the user */
bool asked[USERS];              /* the application has nothing more to hand in */
bool row_credential[USERS];     /* rows of the spool that the service has not taken over */
bool row_request[USERS];

/* state.db */
byte request[USERS];
bool token[USERS];              /* a sealed token */
byte code[USERS];               /* a sealed code */
bool lost[USERS];               /* a code whose exchange brought no answer: the receipt names it */

/* Memory of the process; a kill takes it. */
byte life;                      /* which process it is */
byte begun, ended;              /* reads of the spool, by their number */
byte needs[USERS];              /* a read with a higher number must have ended */
bool unsealed[USERS];           /* the spool has a credential that could not be sealed */

byte kills = KILLS;
byte failures = SEAL_FAILURES;

inline store(u) {
    /* From purging on nothing is stored: the application is told so. */
    if
    :: request[u] < PURGING && is_code -> code[u] = PENDING
    :: request[u] < PURGING && !is_code -> token[u] = true
    :: else -> skip
    fi
}

inline accept(u) {
    request[u] = ACCEPTED;
#ifdef BUG_1                    /* a read that is under way would do */
    needs[u] = (begun > 0 -> begun - 1 : 0)
#else
    needs[u] = begun
#endif
}

bool kind[USERS];               /* whether the credential is a code */

proctype Application(byte u) {
    bool is_code;
    if
    :: is_code = true
    :: is_code = false; works[u] = true
    fi;
    kind[u] = is_code;
    if
    :: atomic { row_credential[u] = true }
    :: atomic { store(u) }
    fi;
    if
    :: atomic { row_request[u] = true }
    :: atomic { accept(u) }
    fi;
    asked[u] = true
}

#define WORK (row_credential[0] || row_credential[1] || row_request[0] || row_request[1] \
    || (request[0] == ACCEPTED && needs[0] >= ended) || (request[1] == ACCEPTED && needs[1] >= ended))

proctype Reader() {
    byte u, mine, number;
    bool seen_credential[USERS], seen_request[USERS];
    bool is_code;
end:
    do
    :: atomic { WORK ->
            begun++; number = begun; mine = life; u = 0;
            do
            :: u < USERS ->
                seen_credential[u] = row_credential[u]; seen_request[u] = row_request[u]; u++
            :: else -> break
            od;
            u = 0
        };
        /* Credentials first, then requests, each in a commit of its own. */
        do
        :: u < USERS && seen_credential[u] ->
            atomic {
                if
                :: mine != life -> skip
                :: mine == life ->
                    is_code = kind[u];
                    if
                    :: store(u); row_credential[u] = false; unsealed[u] = false
                    :: failures > 0 ->
                        failures--;
#ifndef BUG_2                   /* what cannot be sealed is skipped */
                        unsealed[u] = true
#endif
                    fi
                fi;
                u++
            }
        :: u < USERS && !seen_credential[u] -> u++
        :: else -> break
        od;
        u = 0;
        do
        :: u < USERS && seen_request[u] ->
            atomic {
                if
                :: mine == life && row_request[u] -> accept(u); row_request[u] = false
                :: else -> skip
                fi;
                u++
            }
        :: u < USERS && !seen_request[u] -> u++
        :: else -> break
        od;
        atomic {
            u = 0;
            if
            :: mine == life -> ended = number
            :: else -> skip
            fi
        }
    od
}

proctype Lane(byte u) {
    byte mine;
end:
    do
    :: atomic { code[u] == PENDING -> code[u] = EXCHANGING; mine = life };
        /* The provider issues a token, and the answer comes or is lost. */
        works[u] = true;
        atomic {
            if
            :: mine == life -> code[u] = SPENT; token[u] = true
#ifdef BUG_5                    /* a lost code is forgotten */
            :: mine == life -> code[u] = SPENT
#else
            :: mine == life -> code[u] = SPENT; lost[u] = true
#endif
            :: mine != life -> skip
            fi
        }
    od
}

#ifdef BUG_3                    /* nothing waits for the spool */
#define MAY_BEGIN(u) true
#else
#define MAY_BEGIN(u) (ended > needs[u] && !unsealed[u])
#endif

proctype Engine(byte u) {
    byte mine;
end:
    do
    :: atomic { request[u] == ACCEPTED && MAY_BEGIN(u) -> request[u] = REVOKING }
    :: atomic { request[u] == REVOKING && token[u] -> mine = life };
        works[u] = false;
        atomic {
            if
            :: mine == life -> token[u] = false
            :: else -> skip
            fi
        }
    :: atomic {
            request[u] == REVOKING && !token[u] && code[u] != EXCHANGING && code[u] != PENDING
            -> request[u] = PURGING
        }
    :: atomic {
            request[u] == PURGING ->
            assert(!works[u] || lost[u]);
            request[u] = COMPLETED
        }
    od
}

/* kill -9, and the next start: what is in state.db counts, and the spool is read anew. */
proctype Killer() {
    byte u;
end:
    do
    :: atomic {
            kills > 0 -> kills--; life++; u = 0;
            do
            :: u < USERS ->
                unsealed[u] = false;
                needs[u] = begun;
#ifdef BUG_4                    /* a request of before the kill goes on at once */
                needs[u] = 0; ended = 1;
#endif
                if
                :: code[u] == EXCHANGING -> code[u] = SPENT; lost[u] = true
                :: else -> skip
                fi;
                u++
            :: else -> break
            od
        }
    od
}

/* Nobody waits for ever: with nothing left to do every request has ended. */
proctype Judge() {
    timeout;
    assert(!asked[0] || request[0] == COMPLETED);
    assert(!asked[1] || request[1] == COMPLETED)
}

init {
    atomic {
        run Application(0); run Application(1); run Reader();
        run Lane(0); run Lane(1); run Engine(0); run Engine(1); run Killer(); run Judge()
    }
}
