// The arguments of each call, which CUPTI shows to its subscribers, and which need every type of the real API. There is
// no CUPTI here, so that a program which only includes it needs none.
#pragma once
