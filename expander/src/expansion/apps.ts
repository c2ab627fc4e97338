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
  Messenger: 'fb-messenger',
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
  { name: 'Messenger', host: /^(?:www\.)?m\.me$/, path: /^\/./, reason: 'a chat' },
  {
    name: 'LINE',
    host: /^(?:line\.me|liff\.line\.me)$/,
    path: /^\/(?:R|ti)\//,
    reason: 'a chat, group or add-on',
  },
  { name: 'Signal', host: /^signal\.(?:me|group)$/, path: /^\//, reason: 'a chat or group' },
  { name: 'Viber', host: /^(?:chats|invite)\.viber\.com$/, path: /^\/./, reason: 'a chat or group' },
];

const names = new Map(
  Object.entries(schemes).flatMap(([name, list]) => list.split(' ').map((scheme) => [scheme, name] as const)),
);

/** Returns the name of the app that `url` opens, such as `WhatsApp`; null if it opens none that we know. */
export function appOf({ protocol, hostname, pathname }: URL): string | null {
  const isWeb = /^https?:$/.test(protocol);
  if (!isWeb) return names.get(protocol.slice(0, -1)) ?? null;
  return websites.find(({ host, path }) => host.test(hostname) && path.test(pathname))?.name ?? null;
}
