import { urlAtStart } from '@longhand/shared/url-end.ts';
import { html } from 'hono/html';

/** Well-known URL shorteners. */
const shorteners = new Set([
  ...['bit.ly', 'buff.ly', 'cutt.ly', 'dlvr.it', 'fb.me', 'goo.gl', 'is.gd', 'lnkd.in', 'ow.ly', 'rb.gy'],
  ...['rebrand.ly', 'shorturl.at', 't.co', 't.ly', 'tiny.cc', 'tinyurl.com', 'trib.al', 'v.gd'],
]);

/**
 * An http(s) URL in a sentence. The URL ends at white space, quotes, angle brackets, Chinese or Japanese punctuation, and
 * invisible or bidirectional characters. Hosts over 253 characters are skipped: Node takes 150 µs to parse some of them.
 */
const urls =
  /(?<![\p{Script=Latin}\p{N}])https?:\/\/(?![^/?#]{254})[^\s<>"'`“”«»\p{C}\u3000-\u303f\uff00-\uff0f\uff1a-\uff20،؛؟।॥]+/giu;

/** Maximum links in a title, because a page of 100 tasks must render in 10 ms. */
const maxLinks = 20;

type Html = ReturnType<typeof html>;

/** Returns the title as HTML with links. Known short URLs have a second link to the expander. */
export function linked(title: string): string {
  const parts: (string | Html)[] = [];
  let end = 0;
  for (const { 0: found, index } of title.matchAll(urls).take(maxLinks)) {
    const text = urlAtStart(found, title.slice(0, index));
    const url = URL.parse(text);
    // The text before an @ could look like the host.
    if (!url || url.username || url.password) continue;
    parts.push(title.slice(end, index), link(text, url));
    end = index + text.length;
  }
  return String(html`${parts}${title.slice(end)}`);
}

function link(text: string, { href, hostname, pathname }: URL): Html {
  const anchor = html`<a dir="ltr" href="${href}" rel="noreferrer">${text}</a>`;
  if (pathname === '/' || !shorteners.has(hostname.replace(/^www\./, ''))) return anchor;
  const expand = `/expand?${new URLSearchParams({ u: href })}`;
  // The style sheet adds the link text, so that the title's text does not change.
  return html`${anchor}<a class="where" href="${expand}" aria-label="Where to? ${text}"></a>`;
}
