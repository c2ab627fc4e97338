// The page works without this script, which adds the Paste, Copy and Share buttons, a countdown, a screen reader announcement
// and the bookmarklet. The HTML omits these features, because text browsers would show them.
const status = document.querySelector('#status');
const result = document.querySelector('[data-announcement]');
if (result) document.title = result.dataset.title;
// The worst links of a message come first.
const rows = [...document.querySelectorAll('[data-rank]')];
if (result) rows[0]?.parentNode.append(...rows.sort((a, b) => a.dataset.rank - b.dataset.rank));

// Screen readers announce changes to a live region, but not its initial content.
addEventListener('load', () => {
  status.textContent = result?.dataset.announcement ?? '';
});

// The first click selects all text, as the Tab key does, unless the visitor has selected a part by dragging.
const field = document.querySelector('#u');
field.addEventListener(
  'click',
  () => {
    if (field.selectionStart === field.selectionEnd) field.select();
  },
  { once: true },
);

const form = field.form;
const expand = form.querySelector('button');
// The first website may be slow, and the page stays until it responds.
const expanding = (isBusy) => {
  form.ariaBusy = isBusy;
  expand.textContent = isBusy ? 'Expanding …' : 'Expand';
  if (isBusy) status.textContent = 'Expanding';
};
form.addEventListener('submit', () => expanding(true));
addEventListener('pageshow', () => expanding(false));

if (navigator.clipboard?.readText) {
  expand.insertAdjacentHTML('beforebegin', '<button type="button">Paste and expand</button>');
  expand.previousElementSibling.addEventListener('click', async () => {
    try {
      // The field would remove line breaks and join the words. Browsers replace them by spaces only when users paste.
      field.value = (await navigator.clipboard.readText()).trim().replace(/\s+/g, ' ');
      form.requestSubmit();
    } catch {
      field.focus();
    }
  });
}

/** Browsers have the clipboard API only on https and localhost. On plain http, they can still copy a selection. */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    const copied = document.execCommand('copy');
    area.remove();
    return copied;
  }
}

for (const actions of document.querySelectorAll('[data-copy]')) {
  const { copy: text, label: name, copied: what } = actions.dataset;
  const add = (words) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.innerHTML = `${words}<span class="heard"> ${what}</span>`;
    return actions.insertBefore(button, actions.querySelector('[rel]'));
  };
  const button = add(name);
  const label = button.firstChild;
  if (!what) button.className = 'main';
  button.addEventListener('click', async () => {
    // "Copied" is shorter, and "Open anyway" must not move.
    button.style.minInlineSize = `${button.offsetWidth}px`;
    const isCopied = await copy(text);
    button.focus();
    label.data = status.textContent = isCopied ? 'Copied' : 'Not copied';
    setTimeout(() => {
      label.data = name;
      status.textContent = '';
    }, 2_000);
  });
  if (!navigator.share) continue;
  // Rejects if the visitor cancels.
  add('Share').addEventListener('click', () =>
    navigator.share(/^https?:/.test(text) ? { url: text } : { text }).catch(() => {}),
  );
}

// Disables "Try again" after a rate limit error, and counts down in the link and the sentence.
const waiting = document.querySelector('a[data-wait]');
if (waiting) {
  const { href, textContent: label } = waiting;
  const sentence = document.querySelector('#explanation');
  const words = sentence.textContent.split(` in ${waiting.dataset.wait} s`);
  const over = Date.now() + waiting.dataset.wait * 1_000;
  const tick = () => {
    const seconds = Math.ceil((over - Date.now()) / 1_000);
    const time = seconds > 0 ? ` in ${seconds} s` : '';
    waiting.textContent = label + time;
    sentence.textContent = words.join(time);
    if (seconds > 0) return waiting.removeAttribute('href');
    waiting.href = href;
    clearInterval(timer);
  };
  const timer = setInterval(tick, 1_000);
  tick();
}

// Runs on other pages. Expands the selected link or text, or prompts for a URL.
const expandSelection = `(() => {
  const selection = getSelection();
  const text = String(selection).trim();
  const link = text && [...document.links].find((link) => selection.containsNode(link, true));
  const u = link ? link.href : text || prompt('Short URL');
  if (u) open(${JSON.stringify(`${location.origin}/?u=`)} + encodeURIComponent(u));
})()`;
const bookmarklet = `<p id="bookmarklet">Drag <a>Expand link</a> to your bookmarks. Then select a short URL on any
page and click the bookmark. <b></b></p>`;
document.querySelector('footer').insertAdjacentHTML('beforeend', bookmarklet);
const [link, hint] = document.querySelector('#bookmarklet').children;
link.href = `javascript:${encodeURIComponent(expandSelection)}`;
link.addEventListener('click', (event) => {
  event.preventDefault();
  hint.textContent = status.textContent = 'Drag it to your bookmarks. Clicking it here does nothing.';
});
