package rotorlist_test

import _ "memtide/profiles/formats/all" // registers all formats, so that content is tried on each
