package torchtitan_test

import _ "memtide/profiles/formats/all" // content is tried on every format
