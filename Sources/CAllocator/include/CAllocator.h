// The allocator of the daemon: jemalloc, which `expunged` is linked with. Nothing here is called.
//
// Swift allocates and frees small objects all the time, often on one thread what another one
// allocated; docs/decisions/0017-jemalloc.md says what that costs and what this saves.
#pragma once
