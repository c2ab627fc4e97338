// The page is complete without this script. It adds copy buttons, a screen reader announcement and the bookmarklet: what
// only works with a script is not in the HTML, where text browsers would show it.
const status = document.querySelector('#status');

// Screen readers announce what is put into a live region after the page has loaded, not its first content.
addEventListener('load', () => {
  status.textContent = document.querySelector('[data-announcement]')?.dataset.announcement ?? '';
});

// Browsers have a clipboard only on https and localhost.
for (const actions of navigator.clipboard ? document.querySelectorAll('[data-copy]') : []) {
  const button = document.createElement('button');
  const label = new Text('Copy');
  const what = document.createElement('span');
  button.type = 'button';
  what.className = 'heard';
  what.textContent = ` ${actions.dataset.copied}`;
  button.append(label, what);
  actions.append(button);
  button.addEventListener('click', async () => {
    const copied = await navigator.clipboard.writeText(actions.dataset.copy).then(
      () => true,
      () => false,
    );
    label.data = status.textContent = copied ? 'Copied' : 'Not copied';
    setTimeout(() => {
      label.data = 'Copy';
      status.textContent = '';
    }, 2_000);
  });
}

// Runs on other pages: takes the selected link, else the selected text, else what is typed.
const expandSelection = `(() => {
  const selection = getSelection();
  const text = String(selection).trim();
  const link = text && [...document.links].find((link) => selection.containsNode(link, true));
  const u = link ? link.href : text || prompt('Short URL');
  if (u) open(${JSON.stringify(`${location.origin}/?u=`)} + encodeURIComponent(u));
})()`;
const bookmarklet = document.createElement('p');
const link = document.createElement('a');
bookmarklet.id = 'bookmarklet';
link.href = `javascript:${encodeURIComponent(expandSelection)}`;
link.textContent = 'Expand link';
link.addEventListener('click', (event) => {
  event.preventDefault();
  status.textContent = 'Drag this link to your bookmarks. Clicking it here does nothing.';
});
bookmarklet.append(
  'Drag ',
  link,
  ' to your bookmarks. Then select a short URL on any page and click the bookmark.',
);
document.querySelector('footer').prepend(bookmarklet);
