/**
 * Renews the values of an open page in place. The page is whole without it: this only saves the reload. When nothing
 * comes any more, no value on the page is what holds now, and all of them say so.
 */
interface View {
  readonly flags: Readonly<Record<string, string>>;
  readonly texts: Readonly<Record<string, string>>;
}

/** The gateway sends at least once a second. */
const SILENT_MS = 3_000;
const CHECK_MS = 500;
/** A refused stream does not reconnect by itself. */
const RETRY_MS = 3_000;

const places = new Map<string, Element[]>();
for (const place of document.querySelectorAll('[data-live]')) {
  const key = place.getAttribute('data-live') ?? '';
  places.set(key, [...(places.get(key) ?? []), place]);
}

let receivedAt = performance.now();

function show(view: View): void {
  for (const [name, value] of Object.entries(view.flags)) document.body.setAttribute(`data-${name}`, value);
  for (const [key, text] of Object.entries(view.texts)) {
    for (const place of places.get(key) ?? []) if (place.textContent !== text) place.textContent = text;
  }
  for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-needs]')) {
    button.disabled = view.flags[button.dataset.needs ?? ''] !== 'yes';
  }
}

/** Elements that must be empty while no data are received. */
const unknown = [
  'link',
  'stop',
  'tour',
  'gate',
  'pose-unit',
  'complaints',
  'overall',
  'gateway',
  'folders',
  'evidence',
  'cloud',
  'support',
  'support.title',
];

/** Marks the page as outdated while no event is received. Orders other than STOPP are disabled. */
function outdated(): View {
  const keys = [...places.keys()];
  const doubts = keys.filter((key) => key.endsWith('.doubt'));
  const services = keys.filter((key) => /^(?:service|cloud|support)\./.test(key));
  // An age that no longer grows would make an old value look recent.
  const spans = keys.filter(
    (key) => key.endsWith('.age') || ['link.for', 'headline.why', 'gate.reasons'].includes(key),
  );
  return {
    flags: { headline: 'bad', go: 'no', pass: 'no' },
    texts: {
      ...Object.fromEntries(doubts.map((key) => [key, 'veraltet, keine Verbindung zum Gateway:'])),
      ...Object.fromEntries(services.map((key) => [key, '?'])),
      ...Object.fromEntries(spans.map((key) => [key, ''])),
      headline: 'Keine Verbindung zum Gateway',
      ...Object.fromEntries(unknown.map((key) => [key, 'Nicht bekannt: keine Verbindung zum Gateway.'])),
      'tour.why': 'Keine Verbindung zum Gateway.',
    },
  };
}

function silence(): void {
  document.body.setAttribute('data-silent', '');
  show(outdated());
}

function follow(): void {
  const source = new EventSource('/api/events');
  source.addEventListener('view', (event) => {
    show(JSON.parse(event.data));
    receivedAt = performance.now();
    document.body.removeAttribute('data-silent');
    document.body.setAttribute('data-follows', '');
  });
  source.addEventListener('error', () => {
    silence();
    if (source.readyState === EventSource.CLOSED) setTimeout(follow, RETRY_MS);
  });
}

function check(): void {
  if (performance.now() - receivedAt > SILENT_MS) silence();
}

follow();
setInterval(check, CHECK_MS);
// A tablet shows outdated values after sleep, until a timer runs again.
document.addEventListener('visibilitychange', check);
window.addEventListener('pageshow', check);
