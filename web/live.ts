/**
 * Renews the values of an open page in place. The page is whole without it: this only saves the reload, and says
 * so when nothing comes any more.
 */
interface View {
  readonly flags: Readonly<Record<string, string>>;
  readonly texts: Readonly<Record<string, string>>;
}

/** The gateway sends at least once a second. */
const SILENT_MS = 5_000;

const places = new Map<string, Element[]>();
for (const place of document.querySelectorAll('[data-live]')) {
  const key = place.getAttribute('data-live') ?? '';
  places.set(key, [...(places.get(key) ?? []), place]);
}

let heardAt = performance.now();

function show(view: View): void {
  for (const [name, value] of Object.entries(view.flags)) document.body.setAttribute(`data-${name}`, value);
  for (const [key, text] of Object.entries(view.texts)) {
    for (const place of places.get(key) ?? []) if (place.textContent !== text) place.textContent = text;
  }
}

const source = new EventSource('/api/events');
source.addEventListener('view', (event) => {
  heardAt = performance.now();
  document.body.removeAttribute('data-silent');
  show(JSON.parse(event.data));
});

setInterval(() => {
  if (performance.now() - heardAt > SILENT_MS) document.body.setAttribute('data-silent', '');
}, 1_000);
