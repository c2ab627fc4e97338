// The user's variety of English, else British, because the words around the times are English.
const languages = navigator.languages.filter((language) => /^en\b/.test(language)).concat('en-GB');
const format = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(languages, options);

const exact = format({ dateStyle: 'full', timeStyle: 'long' });
const clock = format({ timeStyle: 'short' });
const day = format({ day: 'numeric', month: 'short' });
const month = format({ month: 'short', year: 'numeric' });

/** Shows each time in the user's time zone: short, and on hover in full with the event. */
export function localise(root: ParentNode) {
  const now = new Date();
  for (const time of root.querySelectorAll('time')) {
    const then = new Date(time.dateTime);
    // Somebody may have edited the store by hand.
    if (Number.isNaN(then.getTime())) continue;
    const today = then.toDateString() === now.toDateString();
    const thisYear = then.getFullYear() === now.getFullYear();
    time.textContent = (today ? clock : thisYear ? day : month).format(then);
    time.title = `${time.previousElementSibling?.textContent} ${exact.format(then)}`;
  }
}

localise(document);
