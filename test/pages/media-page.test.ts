import { describe, expect, it } from 'vitest';
import { type MediaLibraryView, mediaPage, refusedPage, type Viewer } from '../../src/lib/pages/index.ts';
import { kindOf, MAX_SHOWN_IMAGE_BYTES } from '../../src/lib/pages/media/media-model.ts';
import { textsOf } from '../../src/lib/pages/texts/catalogue.ts';

const staff: Viewer = { language: 'de', readOnly: false, signedIn: false };
const technician: Viewer = { ...staff, signedIn: true };
const file = (name: string, contentType: string, bytes = 1_234_567) => ({ name, bytes, contentType });
const library: MediaLibraryView = {
  files: [
    file('a b.png', 'image/png'),
    file('ton.wav', 'audio/wav', 900),
    file('film.mp4', 'video/mp4', 150_000_000),
    file('brief.pdf', 'application/pdf'),
    file('liste.txt', 'text/plain; charset=utf-8'),
    file('seite.html', 'application/octet-stream'),
  ],
  moreFiles: 0,
  maxBytes: 200_000_000,
  leftBytes: 487_700_000,
};
const page = (viewer = staff, chosen: string | null = null, view = library) =>
  mediaPage({ site: 'Haus <1>', library: view, viewer, chosen });
const entry = (text: string, name: string) =>
  text.split('<li class="file">').find((part) => part.startsWith(`<h2>${name}</h2>`)) ?? '';

describe('the media page without script', () => {
  it('lists every file with its kind and size, and says what is free', () => {
    const text = page();
    expect(text).toContain('6 Dateien, zusammen 155\u00a0MB. Noch frei: 488\u00a0MB.');
    expect(entry(text, 'ton.wav')).toContain('Ton, 900\u00a0B');
    expect(entry(text, 'film.mp4')).toContain('Film, 150\u00a0MB');
    expect(page({ ...staff, language: 'en' })).toContain('6 files, 155\u00a0MB in total. Free: 488\u00a0MB.');
  });

  it('plays and shows what is served as such, loads nothing before it is played, and covers STOPP with nothing', () => {
    const text = page();
    expect(entry(text, 'ton.wav')).toMatch(/<audio src="\/api\/medien\/ton.wav" controls preload="none"/);
    expect(entry(text, 'film.mp4')).toMatch(/<video [^>]*preload="none"[^>]*controlslist="nofullscreen"/i);
    expect(entry(text, 'a b.png')).toMatch(/<img src="\/api\/medien\/a%20b.png" alt="a b.png" loading="lazy"/);
    for (const name of ['brief.pdf', 'liste.txt', 'seite.html']) {
      expect(entry(text, name)).not.toMatch(/<(img|audio|video|iframe|embed|object)/);
      expect(entry(text, name)).toContain(`href="/api/medien/${name}" download="${name}"`);
    }
    const large = { ...library, files: [file('groß.png', 'image/png', MAX_SHOWN_IMAGE_BYTES + 1)] };
    expect(page(staff, null, large)).not.toContain('<img');
  });

  it('judges the kind by the type that is served, never by the name', () => {
    const known = ['image/png', 'audio/ogg', 'video/webm', 'text/plain', 'application/pdf'];
    const kinds = [...known, 'application/octet-stream', ''];
    expect(kinds.map(kindOf)).toEqual(['image', 'audio', 'video', 'text', 'document', 'other', 'other']);
    const text = page(staff, null, { ...library, files: [file('x.png', 'application/octet-stream')] });
    expect(text).not.toContain('<img');
  });

  it('says in words that it is empty, not readable, or of unknown space', () => {
    expect(page(staff, null, { ...library, files: [] })).toContain('Hier liegt noch keine Datei.');
    const unreadable = page(technician, null, { ...library, files: null, leftBytes: null });
    expect(unreadable).toMatch(/class="alarm" role="alert">Die Mediathek ist zurzeit nicht lesbar/);
    expect(unreadable).not.toContain('noch keine Datei');
    expect(page(staff, null, { ...library, leftBytes: null })).toContain('Platz noch frei ist, ist nicht bekannt');
    expect(page(staff, null, { ...library, leftBytes: 0 })).toContain('Noch frei: 0\u00a0B.');
  });

  it('says how many files it does not list', () => {
    expect(page()).not.toContain('nicht aufgeführt');
    expect(page(staff, null, { ...library, moreFiles: 1 })).toContain('1 weitere Datei ist hier nicht aufgeführt');
    const english = page({ ...staff, language: 'en' }, null, { ...library, moreFiles: 250 });
    expect(english).toContain('250 more files are not listed here: the list ends after 1000 files.');
  });

  it('lets only a signed-in person upload and delete, the latter by two touches', () => {
    for (const chosen of [null, 'ton.wav']) {
      const text = page(staff, chosen);
      expect(text).not.toMatch(/type="file"|loeschen/);
      expect(text).toContain('Hochladen und löschen darf nur, wer angemeldet ist.');
      expect(text).toContain('href="/anmeldung"');
    }
    const before = page(technician);
    expect(before).toMatch(/<form class="upload" method="post" action="\/api\/medien" enctype="multipart\/form-data"/);
    expect(before).toContain('href="/medien?loeschen=a%20b.png#frage"');
    expect(before).not.toContain('action="/api/medien/');
    const asked = page(technician, 'a b.png');
    expect(entry(asked, 'a b.png')).toMatch(/<form id="frage"[^>]*action="\/api\/medien\/a%20b.png\/loeschen"/);
    expect(asked).toContain('„a b.png“ endgültig löschen?');
    expect(asked.match(/<form id="frage"/g)).toHaveLength(1);
    expect(page(technician, 'not there')).not.toContain('id="frage"');
  });

  it('has STOPP, and never reloads by itself while a form is filled in or a film runs', () => {
    const text = page(technician);
    expect(text).toMatch(/<form class="stop" method="post" action="\/api\/stopp"><button type="submit" class="stop-b/);
    expect(text).not.toContain('http-equiv="refresh"');
    expect(text).toMatch(/<a href="\/medien" aria-current="page">Medien<\/a>/);
  });

  it('lets no name and no type become markup', () => {
    const evil = '"><script>alert(1)</script><img src=x onerror=alert(1)>\'&</script>/../?#';
    const types = ['image/png', 'audio/wav', 'video/mp4', 'application/pdf', 'text/html', `image/${evil}`, evil];
    for (const viewer of [staff, technician]) {
      for (const type of types) {
        const view = { ...library, files: [file(evil, type)] };
        const text = mediaPage({ site: evil, library: view, viewer, chosen: evil });
        const beside = text.replace(/<img src="\/api\/medien\/%22[^"<>]*" alt="[^"<]*" loading="lazy"\/?>/g, '');
        expect(beside).not.toMatch(/<script>|<img|<[a-z][^>]* on[a-z]+=|javascript:/i);
        for (const [, address = ''] of text.matchAll(/(?:href|src|action)="([^"]*medien[^"]*)"/g)) {
          expect(address).toMatch(/^\/(api\/)?medien(\/%22%3E[^/?#]*(\/loeschen)?|\?loeschen=%22[^/?#]*#frage)?$/);
        }
        for (const [script] of text.matchAll(/<script[^>]*>/g)) {
          expect(script).toMatch(/src="\/assets\/main\.js"|type="application\/json"/);
        }
      }
    }
  });
});

describe('a refused form of the media page', () => {
  const refused = (code: string, language: 'de' | 'en' = 'de') =>
    refusedPage({ site: 'X', viewer: { ...staff, language }, code, technical: '', tried: null, from: 'media' });

  it('says why in words, and leads back', () => {
    expect(refused('NO_SPACE')).toContain('Für diese Datei ist kein Platz.');
    expect(refused('TOO_LARGE', 'en')).toContain('The file is too large.');
    expect(refused('NOT_SIGNED_IN')).toContain('Dafür ist eine Anmeldung erforderlich.');
    expect(refused('INTERNAL')).toContain('Das ist nicht möglich.');
    expect(refused('BUSY')).toMatch(/href="\/medien">\s*Zurück zu den Medien/);
  });
});

describe('sizes', () => {
  it('have three digits at most before their unit', () => {
    const { size } = textsOf('de', 'UTC').f;
    const sizes = [0, 999, 1_000, 12_345, 999_499, 999_501, 200_000_000, 2e9, 5e15].map(size).join('|');
    expect(sizes.replaceAll('\u00a0', ' ')).toBe('0 B|999 B|1,0 kB|12,3 kB|999 kB|1,0 MB|200 MB|2,0 GB|5000 TB');
  });
});
