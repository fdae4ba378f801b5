#pragma once
int clinux_placeholder(void);
