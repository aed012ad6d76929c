// Names for parts of the theme that lack one, or whose name is not unique: people who listen to the
// page instead of seeing it need them.
document.querySelectorAll('[role="dialog"]:not([aria-label])').forEach((part) => part.setAttribute("aria-label", "Search"))
const named = new Map()
document.querySelectorAll("nav").forEach((part) => {
  const label = document.getElementById(part.getAttribute("aria-labelledby"))
  const text = (label ? label.textContent : part.getAttribute("aria-label") || "Pages").trim().replace(/\s+/g, " ") || "Pages"
  const count = (named.get(text) || 0) + 1
  named.set(text, count)
  part.removeAttribute("aria-labelledby")
  part.setAttribute("aria-label", count > 1 ? `${text}, ${count}` : text)
})
// What scrolls sideways can be reached with the keyboard. The theme wraps tables before this event.
addEventListener("load", () => {
  document.querySelectorAll(".md-typeset__scrollwrap, pre > code, .md-typeset__table").forEach((part) => {
    if (part.scrollWidth > part.clientWidth) part.setAttribute("tabindex", "0")
  })
})
