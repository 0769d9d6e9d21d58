// Package profiles turns bytes into profiles: one file per format.
package profiles
