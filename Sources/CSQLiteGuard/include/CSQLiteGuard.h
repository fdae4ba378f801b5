#pragma once
int csqliteguard_placeholder(void);
