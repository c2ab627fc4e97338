// The page is complete without this: it copies, says the outcome once, and offers a bookmarklet.
const status = document.querySelector('#status');

// Screen readers hear what is put into a live region once the page has loaded, not what it came with.
addEventListener('load', () => {
  status.textContent = document.querySelector('[data-say]')?.dataset.say ?? '';
});

// Browsers have a clipboard on https and on localhost only.
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

// Runs on pages of others: the link that is selected, else the text that is, else what is typed.
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
  status.textContent = 'Drag this to your bookmarks; pressed here it does nothing.';
});
bookmarklet.hidden = false;
