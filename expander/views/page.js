// The page is complete without this script. It adds copy buttons, a screen reader announcement and the bookmarklet.
const status = document.querySelector('#status');

// Screen readers announce what is put into a live region after the page has loaded, not its first content.
addEventListener('load', () => {
  status.textContent = document.querySelector('[data-announcement]')?.dataset.announcement ?? '';
});

// Browsers have a clipboard only on https and localhost.
for (const button of navigator.clipboard ? document.querySelectorAll('[data-copy]') : []) {
  button.hidden = false;
  const label = button.firstChild;
  button.addEventListener('click', async () => {
    const copied = await navigator.clipboard.writeText(button.dataset.copy).then(
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
const bookmarklet = document.querySelector('#bookmarklet');
const link = bookmarklet.querySelector('a');
link.href = `javascript:${encodeURIComponent(expandSelection)}`;
link.addEventListener('click', (event) => {
  event.preventDefault();
  status.textContent = 'Drag this link to your bookmarks. Clicking it here does nothing.';
});
bookmarklet.hidden = false;
