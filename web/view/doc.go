// Package view is how a page is looked at: the visible part of the step, what is selected,
// unfolded, played and told, the list of networks that is being searched. Nothing of it
// changes a schedule. Its rules ask for what is shown; who shows it draws again.
package view
