/** Names of apps, by the URL schemes that open them, possibly after a prompt. None of these schemes runs code in a browser. */
const schemes: Record<string, string> = {
  'your mail program': 'mailto',
  'your phone': 'tel callto',
  'your text messages': 'sms smsto imessage',
  FaceTime: 'facetime facetime-audio',
  'a map': 'geo maps',
  'Google Maps': 'comgooglemaps google.navigation',
  Waze: 'waze',
  'your calendar': 'webcal',
  'an Android app': 'intent android-app',
  'Google Play': 'market',
  'the App Store': 'itms itms-apps itms-appss macappstore',
  'Apple Music': 'music',
  Skype: 'skype',
  Telegram: 'tg',
  Viber: 'viber',
  WhatsApp: 'whatsapp whatsapp-business',
  Signal: 'signal sgnl',
  LINE: 'line',
  WeChat: 'weixin wechat',
  KakaoTalk: 'kakaotalk kakaolink',
  'Facebook Messenger': 'fb-messenger',
  Facebook: 'fb',
  Instagram: 'instagram',
  'X (Twitter)': 'twitter',
  TikTok: 'snssdk1128 snssdk1233',
  Snapchat: 'snapchat',
  Spotify: 'spotify',
  YouTube: 'vnd.youtube youtube',
  Zoom: 'zoommtg zoomus',
  'Microsoft Teams': 'msteams',
  Slack: 'slack',
  Discord: 'discord',
  Steam: 'steam',
  Alipay: 'alipay alipays',
  PayPal: 'paypal',
  'a torrent program': 'magnet',
  'a Bitcoin wallet': 'bitcoin lightning',
};

/** Websites that only open an app. */
const websites: readonly { name: string; host: RegExp; path: RegExp; reason: string }[] = [
  {
    name: 'WhatsApp',
    host: /^(?:wa\.me|(?:api|chat)\.whatsapp\.com)$/,
    path: /^\/./,
    reason: 'a chat, group or catalogue',
  },
  { name: 'Facebook Messenger', host: /^(?:www\.)?m\.me$/, path: /^\/./, reason: 'a chat' },
  {
    name: 'LINE',
    host: /^(?:line\.me|liff\.line\.me)$/,
    path: /^\/(?:R|ti)\//,
    reason: 'a chat, group or add-on',
  },
  { name: 'Signal', host: /^signal\.(?:me|group)$/, path: /^\//, reason: 'a chat or group' },
  { name: 'Viber', host: /^(?:chats|invite)\.viber\.com$/, path: /^\/./, reason: 'a chat or group' },
];

/** What a URL opens in an app, by app. `WHOM` stands for the name or number that the pattern finds, which is ASCII. */
const purposes: Record<string, readonly (readonly [url: RegExp, words: string])[]> = {
  'your mail program': [[/^mailto:([\w.+-]{1,64}@[\w.-]{1,64})(?=\?|$)/, 'a message to WHOM']],
  'your phone': [[/^(?:tel|callto):([\d+*().-]{3,24})(?=;|$)/, 'a call to WHOM']],
  'your text messages': [
    [/^(?:smsto|sms|imessage):(?:\/\/)?([\d+().-]{3,24})(?=[?;&]|$)/, 'a message to WHOM'],
  ],
  FaceTime: [[/:(?:\/\/)?([\w.+@-]{3,64})$/, 'a call to WHOM']],
  WhatsApp: [
    [/(?:wa\.me\/|[?&]phone=)\+?(\d{5,15})(?!\d)/, 'a chat with +WHOM'],
    [/wa\.me\/c\/(\d{5,15})(?!\d)/, 'the catalogue of +WHOM'],
    [/chat\.whatsapp\.com\/|:\/\/chat\?code=/, 'an invitation to a group'],
  ],
  'Facebook Messenger': [
    [/m\.me\/([\w.]{1,64})\/?(?:[?#]|$)/, 'a chat with WHOM'],
    [/m\.me\/j\//, 'an invitation to a group'],
  ],
  LINE: [
    [/\/(?:ti\/p|oaMessage)\/(?:~|(?=@))(@?[\w.-]{1,64})/, 'a chat with WHOM'],
    [/\/ti\/g2?\//, 'an invitation to a group'],
  ],
  Signal: [
    [/#p\/(\+\d{5,15})(?!\d)/, 'a chat with WHOM'],
    [/signal\.group\//, 'an invitation to a group'],
  ],
  Viber: [
    [/chat\/?\?number=\+?(\d{5,15})(?!\d)/, 'a chat with +WHOM'],
    [/chats\.viber\.com\/([\w.-]{1,64})/, 'a chat with WHOM'],
    [/invite\.viber\.com\//, 'an invitation to a group'],
  ],
  Telegram: [
    [/[?&]domain=(\w{1,64})/, 'a chat with @WHOM'],
    [/:(?:\/\/)?join\?/, 'an invitation to a group'],
  ],
  'Google Play': [[/[?&]id=([\w.]{1,64})/, 'the app WHOM']],
  'an Android app': [[/(?:;package=|^android-app:\/\/)([\w.]{1,64})/, 'WHOM']],
};

const names = new Map(
  Object.entries(schemes).flatMap(([name, list]) => list.split(' ').map((scheme) => [scheme, name] as const)),
);

/** Returns the name of the app that `url` opens, such as `WhatsApp`; null if it opens none that we know. */
export function appOf({ protocol, hostname, pathname, search }: URL): string | null {
  const isWeb = /^https?:$/.test(protocol);
  if (!isWeb) return names.get(protocol.slice(0, -1)) ?? null;
  return websites.find(({ host, path }) => host.test(hostname) && path.test(pathname + search))?.name ?? null;
}

/** Returns the app and what the URL opens in it, such as `WhatsApp: a chat with +4915112345678`; null like `appOf`. */
export function appInWords(url: URL): string | null {
  const app = appOf(url);
  const text = url.href.replace(/%40/g, '@').replace(/%2B/gi, '+');
  for (const [pattern, words] of purposes[app ?? ''] ?? []) {
    const found = pattern.exec(text);
    if (found) return `${app}: ${words.replace('WHOM', found[1] ?? '')}`;
  }
  return app;
}
