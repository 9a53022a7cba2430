// The version of thrust whose interface this is.
#pragma once
#define THRUST_VERSION 200400
#define THRUST_MAJOR_VERSION 2
#define THRUST_MINOR_VERSION 4
#define THRUST_SUBMINOR_VERSION 0
#define THRUST_PATCH_NUMBER 0
#define THRUST_UNUSED_VAR(expression) do { (void)(expression); } while (0)
