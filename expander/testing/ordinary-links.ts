import type { HopResponse } from '../src/expansion/expansion.ts';
import { readDocument } from '../src/hop/html-document.ts';
import { type OrdinaryPage, ordinaryPages } from './ordinary-pages.ts';

/** 200 links of ten kinds, in the forms that well-known sites use. None of them deserves a warning. */
const kinds: Record<string, string> = {
  news: `
    https://www.nytimes.com/2026/11/20/climate/arctic-sea-ice-record.html?unlocked_article_code=1.x.y&smid=url-share
    https://www.bbc.co.uk/news/articles/c4g0x8e1v9lo
    https://www.bbc.com/news/live/cy5k7e0zd8pt
    https://www.theguardian.com/world/2026/nov/20/storm-warning-north-sea?CMP=Share_iOSApp_Other
    https://edition.cnn.com/2026/11/20/europe/rail-strike-intl/index.html
    https://www.spiegel.de/politik/deutschland/haushalt-a-1b2c3d4e-0001-0002-0000-000000000001
    https://www.lemonde.fr/planete/article/2026/11/20/secheresse_6123456_3244.html
    https://elpais.com/internacional/2026-11-20/elecciones-en-portugal.html
    https://www.repubblica.it/cronaca/2026/11/20/news/maltempo_liguria-423456789/
    https://www3.nhk.or.jp/news/html/20261120/k10014000001000.html
    https://www.asahi.com/articles/ASTCN0000TCNUTIL001M.html
    https://timesofindia.indiatimes.com/india/monsoon-session/articleshow/123456789.cms
    https://www.smh.com.au/national/nsw/bushfire-season-20261120-p5abcd.html
    https://g1.globo.com/economia/noticia/2026/11/20/inflacao-outubro.ghtml
    https://news.yahoo.co.jp/articles/0a1b2c3d4e5f60718293a4b5c6d7e8f901234567
    https://www.aljazeera.com/news/2026/11/20/talks-resume
    https://www.reuters.com/world/europe/eu-summit-2026-11-20/
    https://apnews.com/article/weather-storm-coast-0a1b2c3d4e5f60718293a4b5c6d7e8f9
    https://tass.ru/ekonomika/21234567
    https://wiadomosci.onet.pl/kraj/pogoda-na-weekend/abc1234`,
  shop: `
    https://www.amazon.com/dp/B0ABCDEFGH?ref=cm_sw_r_cp_ud_dp_X
    https://www.amazon.de/-/en/gp/product/B0ABCDEFGH/ref=ppx_yo_dt_b_asin_title_o00_s00
    https://www.amazon.co.uk/gp/aw/d/B0ABCDEFGH/
    https://www.ebay.com/itm/123456789012?mkcid=16&mkevt=1
    https://www.ebay.com.au/itm/123456789012
    https://www.etsy.com/listing/1234567890/handmade-mug
    https://www.aliexpress.com/item/1005001234567890.html
    https://www.zalando.de/schuhe-schwarz-abc12n00x-q11.html
    https://www.otto.de/p/lampe-weiss-C123456789/#variationId=1234567890
    https://www.ikea.com/de/de/p/billy-buecherregal-weiss-00263850/
    https://www.walmart.com/ip/Kettle/123456789
    https://www.target.com/p/towel/-/A-12345678
    https://www.bestbuy.com/site/tv-55/1234567.p?skuId=1234567
    https://item.taobao.com/item.htm?id=123456789012
    https://www.mercadolivre.com.br/p/MLB12345678
    https://www.flipkart.com/phone/p/itm0123456789abc?pid=MOBXXXX
    https://item.rakuten.co.jp/shop-name/item-1/
    https://allegro.pl/oferta/rower-12345678901
    https://www.ozon.ru/product/kniga-123456789/
    https://www.apple.com/shop/buy-iphone/iphone-18`,
  bank: `
    https://www.chase.com/personal/checking
    https://secure.bankofamerica.com/login/sign-in/signOnV2Screen.go
    https://www.wellsfargo.com/biz/
    https://www.hsbc.co.uk/accounts/
    https://www.hsbc.com.hk/accounts/
    https://online-banking.barclays.co.uk/olb/login/
    https://www.sparkasse.de/pk/produkte/konten-und-karten.html
    https://meine.deutsche-bank.de/trxm/db/
    https://www.commerzbank.de/konten-zahlungen/
    https://www.ing.de/girokonto/
    https://mabanque.bnpparibas/fr/connexion
    https://www.credit-agricole.fr/ca-paris/particulier.html
    https://www.bbva.es/personas/productos/cuentas.html
    https://www.intesasanpaolo.com/it/persone-e-famiglie.html
    https://www.sberbank.ru/ru/person/paymentsandremittances
    https://www.onlinesbi.sbi/
    https://netbanking.hdfcbank.com/netbanking/
    https://www.commbank.com.au/digital-banking.html
    https://www.itau.com.br/cartoes
    https://www.paypal.com/paypalme/somebody`,
  video: `
    https://www.youtube.com/watch?v=dQw4w9WgXcQ&si=AbCdEfGhIjKlMnOp
    https://m.youtube.com/shorts/AbCdEfGhIjK
    https://music.youtube.com/watch?v=dQw4w9WgXcQ
    https://vimeo.com/123456789
    https://player.vimeo.com/video/123456789?h=0a1b2c3d4e
    https://www.dailymotion.com/video/x8abcde
    https://www.twitch.tv/videos/1234567890
    https://clips.twitch.tv/FunnyClipName-AbCdEf
    https://www.tiktok.com/@user.name/video/7123456789012345678?is_from_webapp=1
    https://www.netflix.com/title/81234567
    https://www.disneyplus.com/de-de/browse/entity-0a1b2c3d
    https://www.primevideo.com/detail/0ABCDEFGHIJKLMNOPQRSTUVWXY/
    https://www.arte.tv/de/videos/123456-000-A/ein-film/
    https://www.ardmediathek.de/video/tatort/folge/das-erste/Y3JpZDovL2Rhc2Vyc3RlLmRl
    https://www.zdf.de/video/dokus/terra-x-112/insel-100
    https://www.bbc.co.uk/iplayer/episode/m001abcd/planet
    https://www.bilibili.com/video/BV1xx411c7mD
    https://v.qq.com/x/cover/mzc00200abcdefg.html
    https://rutube.ru/video/0a1b2c3d4e5f60718293a4b5c6d7e8f9/
    https://open.spotify.com/episode/4rOoJ6Egrf8K2IrywzwOMk?si=0a1b2c3d`,
  document: `
    https://arxiv.org/pdf/1706.03762.pdf
    https://www.rfc-editor.org/rfc/pdfrfc/rfc9110.txt.pdf
    https://www.irs.gov/pub/irs-pdf/f1040.pdf
    https://www.who.int/docs/default-source/report/annual-report-2026.pdf?sfvrsn=0a1b2c3d_4
    https://www.bundesregierung.de/resource/blob/123456/bericht.pdf?download=1
    https://assets.publishing.service.gov.uk/media/0a1b2c3d4e5f/Plan_2026.pdf
    https://www.ecb.europa.eu/pub/pdf/other/report.en.pdf
    https://www.example.org/files/minutes.docx
    https://www.example.org/files/table.xlsx
    https://www.example.org/files/slides.pptx
    https://www.example.org/photos/holiday.jpg
    https://www.example.org/sounds/interview.mp3
    https://en.wikipedia.org/wiki/Mount_St._Helens
    https://de.m.wikipedia.org/wiki/M%C3%BCnchen
    https://learn.microsoft.com/en-us/windows/wsl/install
    https://developer.mozilla.org/en-US/docs/Web/HTTP/Status/404
    https://docs.python.org/3/library/asyncio.html
    https://stackoverflow.com/questions/11227809/why-is-processing-a-sorted-array-faster
    https://www.nature.com/articles/s41586-021-03819-2
    https://web.archive.org/web/20200101000000/https://www.example.com/`,
  map: `
    https://www.google.com/maps/place/Brandenburger+Tor/@52.5162746,13.3777041,17z/data=!3m1!4b1
    https://www.google.de/maps/dir/Berlin/Hamburg/
    https://maps.google.com/?q=52.5163,13.3777
    https://maps.google.com/maps?cid=1234567890123456789
    https://maps.apple.com/?ll=52.5163,13.3777&q=Tor
    https://maps.apple.com/place?auid=1234567890
    https://www.openstreetmap.org/?mlat=52.5163&mlon=13.3777#map=17/52.5163/13.3777
    https://www.openstreetmap.org/node/240109189
    https://www.bing.com/maps?cp=52.5163~13.3777&lvl=16
    https://wego.here.com/directions/drive/Berlin
    https://yandex.com/maps/org/123456789012/
    https://yandex.ru/maps/213/moscow/
    https://map.baidu.com/poi/%E5%A4%A9%E5%AE%89%E9%97%A8/@12958000,4825000
    https://map.naver.com/p/entry/place/1234567890
    https://map.kakao.com/?itemId=12345678
    https://www.komoot.com/de-de/tour/123456789
    https://www.strava.com/activities/1234567890
    https://what3words.com/filled.count.soap
    https://www.waze.com/ul?ll=52.5163%2C13.3777&navigate=yes
    https://mapy.cz/s/abcdefghij`,
  'app store': `
    https://apps.apple.com/de/app/whatsapp-messenger/id310633997
    https://apps.apple.com/us/app/id544007664?mt=8
    https://itunes.apple.com/us/album/album-name/1234567890
    https://music.apple.com/us/album/name/1234567890?i=1234567891
    https://podcasts.apple.com/us/podcast/the-daily/id1200361736
    https://books.apple.com/us/book/id1234567890
    https://play.google.com/store/apps/details?id=com.whatsapp
    https://play.google.com/store/apps/details?id=org.mozilla.firefox&hl=de&referrer=utm_source%3Dmail
    https://play.google.com/store/books/details?id=AbCdEfGhIjKM
    https://apps.microsoft.com/detail/9nblggh4nns1?hl=en-us&gl=US
    https://www.microsoft.com/store/productId/9NBLGGH4NNS1
    https://appgallery.huawei.com/app/C101234567
    https://galaxystore.samsung.com/detail/com.sec.android.app.sbrowser
    https://www.amazon.com/gp/product/B00ABCDEFG?tag=x
    https://f-droid.org/en/packages/org.videolan.vlc/
    https://store.steampowered.com/app/1091500/Cyberpunk_2077/
    https://store.epicgames.com/en-US/p/fortnite
    https://www.nintendo.com/us/store/products/game-switch/
    https://store.playstation.com/en-us/product/UP0000-CUSA00000_00-GAME000000000000
    https://snapcraft.io/firefox`,
  mail: `
    https://mail.google.com/mail/u/0/#inbox/FMfcgzAbCdEfGhIjKlMn
    https://outlook.live.com/mail/0/
    https://outlook.office.com/mail/inbox/id/AAQkAD
    https://outlook.office365.com/owa/?realm=example.org
    https://mail.yahoo.com/d/folders/1
    https://mail.proton.me/u/0/inbox
    https://www.icloud.com/mail/
    https://bap.navigator.web.de/mail
    https://www.gmx.net/mail/
    https://email.t-online.de/em
    https://mail.ru/
    https://e.mail.ru/inbox/
    https://mail.yandex.ru/?uid=1#inbox
    https://app.fastmail.com/mail/Inbox/
    https://mail.zoho.com/zm/#mail/folder/inbox
    https://mail.qq.com/
    https://mail.163.com/
    https://www.laposte.net/accueil
    https://webmail.freenet.de/web/
    https://mail.naver.com/v2/folders/0/all`,
  social: `
    https://www.facebook.com/events/1234567890123456/
    https://m.facebook.com/story.php?story_fbid=pfbid0abc&id=100000000000000
    https://www.facebook.com/share/p/1AbCdEfGhI/
    https://www.instagram.com/p/CabcdefGhIj/?igsh=MzRlODBiNWFlZA==
    https://www.instagram.com/reel/CabcdefGhIj/
    https://x.com/user/status/1234567890123456789?s=20
    https://twitter.com/user/status/1234567890123456789
    https://www.threads.com/@user/post/CabcdefGhIj
    https://mastodon.social/@user/112345678901234567
    https://bsky.app/profile/user.bsky.social/post/3kabcdefghi2x
    https://www.linkedin.com/posts/user_topic-activity-7123456789012345678-AbCd
    https://www.linkedin.com/in/some-body/
    https://www.reddit.com/r/europe/comments/1abcdef/title/
    https://old.reddit.com/r/europe/
    https://www.pinterest.de/pin/123456789012345678/
    https://www.snapchat.com/add/somebody
    https://discord.com/channels/123456789012345678/123456789012345679
    https://vk.com/wall-12345678_1234
    https://weibo.com/1234567890/AbCdEfGhI
    https://www.quora.com/What-is-a-short-URL`,
  government: `
    https://www.gov.uk/vehicle-tax
    https://www.tax.service.gov.uk/check-income-tax
    https://www.registertovote.service.gov.uk/register-to-vote/start
    https://www.nhs.uk/conditions/flu/
    https://www.usa.gov/passport
    https://www.irs.gov/refunds
    https://www.ssa.gov/myaccount/
    https://travel.state.gov/content/travel/en/passports.html
    https://www.bundestag.de/dokumente/textarchiv/2026/kw47
    https://service.berlin.de/dienstleistung/120703/
    https://www.impots.gouv.fr/accueil
    https://www.service-public.fr/particuliers/vosdroits/F1342
    https://sede.agenciatributaria.gob.es/Sede/renta.html
    https://www.agenziaentrate.gov.it/portale/
    https://www.belastingdienst.nl/wps/wcm/connect/nl/home/home
    https://www.gov.pl/web/gov/zloz-wniosek
    https://www.krakow.pl/aktualnosci/
    https://www.gov.spb.ru/gov/
    https://www.australia.gov.au/
    https://europa.eu/youreurope/citizens/index_en.htm`,
};

const fileTypes = /\.(?:pdf|docx|xlsx|pptx|jpg|mp3)(?:\?|$)/;

/** Max bytes of a page that the service reads. */
const maxBytes = 65_536;

/** Ordinary links with what their websites send, by kind. */
export const ordinaryLinks = Object.entries(kinds).flatMap(([kind, urls]) =>
  urls
    .trim()
    .split(/\s+/)
    .map((url, index) => ({ kind, url, ...(fileTypes.test(url) ? fileAt(url) : pageAt(url, kind, index)) })),
);

function fileAt(url: string) {
  const name = new URL(url).pathname.split('/').at(-1) ?? '';
  return { page: 'a file', isShell: false, response: { file: { name, size: 80_000 } } };
}

/** Returns one of the kind's pages, and how the service reads it. */
function pageAt(url: string, kind: string, index: number) {
  const pages = ordinaryPages[kind] ?? [];
  const { name, isShell, markup } = pages[index % pages.length] as OrdinaryPage;
  const head = { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } };
  const body = Buffer.from(markup(`A ${kind} page`)).subarray(0, maxBytes);
  const { title, scriptRedirect, isCut } = readDocument(new URL(url), head, body);
  const isIncomplete = isCut || body.length === maxBytes;
  const response: Partial<HopResponse> = {
    ...{ title: title ?? '', method: 'GET', bytesRead: body.length },
    ...(scriptRedirect && { scriptRedirect }),
    ...(isIncomplete && { incomplete: true }),
  };
  return { page: name, isShell, response };
}
