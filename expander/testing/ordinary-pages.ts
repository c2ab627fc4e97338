/** Makes the markup of an ordinary page, as large websites send it, with all its scripts. */
export interface OrdinaryPage {
  name: string;
  /** Whether scripts make nearly all that visitors see, so that the page may lead anywhere. */
  isShell: boolean;
  markup: (title: string) => string;
}

const analytics = `
<script async src="https://www.googletagmanager.com/gtag/js?id=G-ABCDEF"></script>
<script>window.dataLayer = window.dataLayer || []; function gtag(){dataLayer.push(arguments)}
gtag('js', new Date()); gtag('config', 'G-ABCDEF', { page_path: location.pathname });</script>
<script>(function(w,d,s,l,i){w[l]=w[l]||[];w[l].push({'gtm.start':new Date().getTime(),event:'gtm.js'});
var f=d.getElementsByTagName(s)[0],j=d.createElement(s);j.async=true;j.src='https://www.googletagmanager.com/gtm.js?id='+i;
f.parentNode.insertBefore(j,f)})(window,document,'script','dataLayer','GTM-ABCDEF');</script>`;

const consent = `
<script src="https://cdn.cookielaw.org/scripttemplates/otSDKStub.js" data-domain-script="0a1b"></script>
<script>function OptanonWrapper() { if (window.needsReload) { window.location.reload(); } }</script>`;

const structured = (title: string) =>
  `<script type="application/ld+json">{"@context":"https://schema.org","@type":"NewsArticle","headline":"${title}"}</script>`;

const sentences =
  'The council met on Friday to talk about the new bridge. After two hours it decided to ask the people who live nearby. ' +
  'A first meeting takes place next week in the town hall, and everybody is welcome. The plans are also on show in the library. ';

const head = (title: string, more = '') => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta property="og:title" content="${title}">
<link rel="stylesheet" href="/static/main.0a1b2c.css">${more}</head>`;

/** A state that scripts read, as in \`window.__INITIAL_STATE__\`. */
const state = (name: string, size: number) =>
  `<script nonce="0a1b">var ${name} = {"responseContext":{"url":"https://www.example.com/","location":"/home"},"items":["${'x'.repeat(size)}"]};</script>`;

const article: OrdinaryPage = {
  name: 'an article',
  isShell: false,
  markup: (title) => `${head(title, analytics + consent + structured(title))}
<body class="article"><noscript><iframe src="https://www.googletagmanager.com/ns.html?id=GTM" height="0" width="0"></iframe></noscript>
<script>document.documentElement.className = 'js'; if (location.hash === '#comments') { location.hash = '#all'; }</script>
<header><nav><a href="/">Home</a> <a href="/world">World</a> <a href="/sport">Sport</a></nav></header>
<main><h1>${title}</h1><p>${sentences.repeat(4)}</p><div id="ad" onclick="open('https://ads.example')"></div></main>
<script>if (top !== self) { top.location = self.location; } var page = location.href;</script></body></html>`,
};

const shop: OrdinaryPage = {
  name: 'a product of a shop',
  isShell: false,
  markup: (title) => `${head(title, analytics + state('__PRELOADED_STATE__', 9_000))}
<body><h1>${title}</h1><ul><li>In stock</li><li>Delivered on Monday</li></ul><p>${sentences}</p>
<button onclick="location.href='/cart'">Add to basket</button><script type="module" src="/static/app.js"></script></body></html>`,
};

const shopOfScripts: OrdinaryPage = {
  name: 'a shop made by scripts',
  isShell: true,
  markup: (title) => `${head(title, analytics)}
<body><noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div>
<script src="/static/js/main.0a1b2c3d.js" defer></script></body></html>`,
};

const video: OrdinaryPage = {
  name: 'a video',
  isShell: true,
  markup: (title) => `${head(title, state('ytcfg', 4_000))}
<body dir="ltr"><ytd-app disable-upgrade="true"></ytd-app><div id="watch7-content" itemscope><link itemprop="url" href="/watch"></div>
${state('ytInitialPlayerResponse', 20_000)}${state('ytInitialData', 90_000)}</body></html>`,
};

const feed: OrdinaryPage = {
  name: 'a post of a social network',
  isShell: true,
  markup: (title) => `${head(title, '<link rel="preload" href="/static/bundle.js" as="script">')}
<body style="background-color: white"><div id="mount_0_0_aB"></div><div id="splash-screen"><img alt="" src="data:image/png;base64,AA"></div>
<script type="application/json" data-sjs>{"require":[["ScheduledServerJS","handle",null,[{"__bbox":{}}]]]}</script>
<script src="/static/bundle.js" crossorigin="anonymous"></script></body></html>`,
};

const map: OrdinaryPage = {
  name: 'a map',
  isShell: true,
  markup: (title) => `${head(title)}
<body><div id="app-container"></div><script>window.APP_OPTIONS = [null, null, ["/maps"]]; window.APP_INITIALIZATION_STATE = [];</script>
${state('APP_FLAGS', 30_000)}<script src="/maps/_/js/k=maps.m" async></script></body></html>`,
};

const store: OrdinaryPage = {
  name: 'an app in a store',
  isShell: false,
  markup: (title) => `${head(title, structured(title))}
<body><script>if (!('noModule' in HTMLScriptElement.prototype)) { document.body.className = 'old'; }</script>
<main><h1>${title}</h1><p>4.6 stars, 12,345 ratings</p><p>${sentences}</p><a href="itms-apps://apps.example/1">Get</a></main>
<script id="shoebox" type="fastboot/shoebox">{"data":[]}</script><script src="/assets/web-app.js"></script></body></html>`,
};

const mail: OrdinaryPage = {
  name: 'the sign-in page of a mail program',
  isShell: true,
  markup: (title) => `${head(title, '<base href="/"><script>window.boot = Date.now();</script>')}
<body><div id="loading" style="display: none">${sentences}</div><app-root></app-root>
<script type="module" src="/main.js"></script></body></html>`,
};

const office: OrdinaryPage = {
  name: 'a page of an office',
  isShell: false,
  markup: (title) => `${head(title)}
<body class="template"><script>document.body.className += ' js-enabled';</script>
<a href="#content" class="skip">Skip to main content</a><main id="content"><h1>${title}</h1><p>${sentences.repeat(2)}</p></main>
<script src="/assets/application.js" integrity="sha256-0a1b"></script></body></html>`,
};

const longHead: OrdinaryPage = {
  name: 'a page with a head of more than 64 KiB',
  isShell: true,
  markup: (title) => `${head(title, `${analytics}<style>${'.a{color:red}'.repeat(6_000)}</style>`)}
<body><h1>${title}</h1><p>${sentences.repeat(9)}</p></body></html>`,
};

/** What websites of each kind send, in turn. */
export const ordinaryPages: Record<string, readonly OrdinaryPage[]> = {
  news: [article, longHead],
  shop: [shop, shopOfScripts],
  bank: [office, article, shopOfScripts],
  video: [video],
  document: [office],
  map: [map],
  'app store': [store, shopOfScripts],
  mail: [mail],
  social: [feed, shopOfScripts],
  government: [office, article],
};
