import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { networkRequestFacts, networkRequestLetter, writeDocumentAs } from '../../src/lib/report/index.ts';
import { letterTexts } from '../../src/lib/report/network/letter.ts';
import { networkRequestFactsSchema } from '../../src/lib/report/network-request.result.ts';
import { parseSite } from '../../src/lib/site/index.ts';
import { oddText } from '../overlays/arbitrary.ts';
import { elementsOf, readMarkup, textOf } from '../overlays/render/markup-reader.ts';
import { runs } from '../properties.ts';
import { fontsDir, readPdf } from './pdf-reader.ts';

const madeAt = new Date('2026-11-21T12:00:00Z');

const fullSite = `
name: Lobby, robot 7
chassis: { host: 192.0.2.3, serial: SN0007, mac: "02:00:00:00:00:0A" }
fleet: { keyFile: secrets/heartbeat, unicast: [192.0.2.18] }
enrolment: { url: "https://enrol.example.com/device" }
cloud:
  mqtt: { host: mqtt.example.com, alpn: x-example-mqtt-ca }
  storageUrl: https://storage.example.com
  tunnel: { host: tunnel.example.com }
operator:
  voice: { url: "http://127.0.0.1:3001" }
  building: { url: "http://198.51.100.20" }
network:
  robotSegment: 192.0.2.0/28
  gateway: 192.0.2.2
  gatewayMac: 02:00:00:00:00:0b
  devices:
    - { name: Lift A, kind: lift, host: 198.51.100.10, port: 3100 }
    - { name: Door beside the gateway, kind: door, host: 127.0.0.1, port: 8080 }
contacts:
  customer: { company: Example Hotel GmbH, name: A. Example, mail: it@example.com }
  operator: { company: Robots GmbH, name: B. Example, mail: network@example.com, phone: "+49 30 000000" }
`;
const smallSite = 'name: Lobby\nchassis: { host: robot-7.local, serial: SN0008 }\n';

const factsOf = (yaml: string) => networkRequestFacts(parseSite(yaml, '/site/site.yaml'));
const letterOf = (yaml: string, lang: 'de' | 'en') =>
  networkRequestLetter(factsOf(yaml), { lang, madeAt, timeZone: 'Europe/Berlin' });

async function textOfLetter(yaml: string, lang: 'de' | 'en'): Promise<string> {
  const { content } = await writeDocumentAs(letterOf(yaml, lang), 'html', fontsDir);
  const main = [...elementsOf(readMarkup(String(content)))].find(({ name }) => name === 'main');
  return main === undefined ? '' : textOf(main);
}

describe('the tablet in the letter', () => {
  const withTablet = (tablet: string) => `${fullSite}tablet: ${tablet}\n`;

  it('has plain DHCP, with its MAC address where the site file names it', async () => {
    const text = await textOfLetter(withTablet('{ mac: "02:00:00:00:00:0C" }'), 'en');
    expect(text).toMatch(/Tablet\s*02:00:00:00:00:0c\s*not needed\s*plain DHCP/);
    expect(await textOfLetter(fullSite, 'en')).toMatch(/Tablet\s*not needed\s*not needed\s*plain DHCP/);
    expect(factsOf(withTablet('{ host: 192.0.2.4 }')).tablet).toEqual({ mac: null, address: '192.0.2.4' });
  });

  it('has a reservation where the site file fixes its address too', async () => {
    const text = await textOfLetter(withTablet('{ host: 192.0.2.4, mac: "02:00:00:00:00:0C" }'), 'de');
    expect(text).toMatch(/Tablet\s*02:00:00:00:00:0c\s*192\.0\.2\.4\s*feste Reservierung/);
  });
});

describe('the facts of a network request', () => {
  it('come from the site file alone, with no open point when it is complete', () => {
    const facts = factsOf(fullSite);
    expect(networkRequestFactsSchema.parse(facts)).toEqual(facts);
    expect(facts.open).toEqual([]);
    expect(facts.reservations).toEqual([
      { device: 'chassis', mac: '02:00:00:00:00:0a', address: '192.0.2.3', name: null },
      { device: 'gateway', mac: '02:00:00:00:00:0b', address: '192.0.2.2', name: null },
    ]);
    expect(facts.outbound.map(({ use, host, port, alpn, need }) => [use, host, port, alpn, need])).toEqual([
      ['mqtt-443', 'mqtt.example.com', 443, 'x-example-mqtt-ca', 'needed'],
      ['mqtt', 'mqtt.example.com', 8883, null, 'optional'],
      ['storage', 'storage.example.com', 443, null, 'needed'],
      ['tunnel', 'tunnel.example.com', 443, null, 'in-session'],
      ['enrolment', 'enrol.example.com', 443, null, 'before-delivery'],
    ]);
    const inside = 'chassis tcp 8090, operator tcp 5173, heartbeat udp 45301, ssh tcp 22, adb tcp 5555';
    expect(facts.inside.map(({ use, protocol, port }) => `${use} ${protocol} ${port}`).join(', ')).toBe(inside);
  });

  it('exclude connections within the gateway, and name the building module with the port of its address', () => {
    expect(factsOf(fullSite).house).toEqual([
      { name: 'Lift A', kind: 'lift', host: '198.51.100.10', port: 3100 },
      { name: null, kind: 'building-module', host: '198.51.100.20', port: 80 },
    ]);
  });

  it('name what runs on the gateway itself, as nothing to be allowed', async () => {
    expect(factsOf(fullSite).onGateway).toEqual([
      { name: 'Door beside the gateway', kind: 'door', port: 8080 },
      { name: null, kind: 'voice', port: 3001 },
    ]);
    for (const [lang, words] of [
      ['de', 'Auf dem Gateway selbst laufen: Door beside the gateway (TCP 8080), Sprachdienst (TCP 3001).'],
      ['en', 'On the gateway itself: Door beside the gateway (TCP 8080), Voice service (TCP 3001).'],
    ] as const) {
      const text = await textOfLetter(fullSite, lang);
      expect(text).toContain(words);
      expect(text).not.toContain('127.0.0.1');
    }
  });

  it('name each address whose time is read, and for which of them alone it is', async () => {
    const yaml = `${fullSite}time: { urls: ["https://time.example.com:8443", "https://storage.example.com", "https://127.0.0.1"] }\n`;
    expect(
      factsOf(yaml).outbound.flatMap(({ use, host, port, need, readsTime }) =>
        readsTime ? [[use, host, port, need]] : [],
      ),
    ).toEqual([
      ['storage', 'storage.example.com', 443, 'needed'],
      ['enrolment', 'enrol.example.com', 443, 'optional'],
      ['time', 'time.example.com', 8443, 'optional'],
    ]);
    expect(factsOf(fullSite).outbound.some(({ readsTime }) => readsTime)).toBe(false);
    for (const [lang, what, where] of [
      ['de', 'Vergleich der Uhrzeit, alle sechs Stunden', 'können anderswo liegen'],
      ['en', 'comparison of the time of day, one request without content every six hours', 'may be elsewhere'],
    ] as const) {
      const text = await textOfLetter(yaml, lang);
      expect(text.split(what).length - 1).toBe(3);
      expect(text).toContain(where);
      const without = await textOfLetter(fullSite, lang);
      expect(without).not.toContain(what);
      expect(without).not.toContain(where);
    }
  });

  it('list everything missing in the site file, with its key and who can provide it', () => {
    const keysFrom = (who: string) => factsOf(smallSite).open.flatMap(({ key, from }) => (from === who ? [key] : []));
    expect(keysFrom('operator')).toEqual([
      ...['contacts.customer', 'contacts.operator', 'contacts.operator', 'chassis.mac', 'network.gatewayMac'],
      ...['cloud.mqtt.host', 'cloud.storageUrl', 'cloud.tunnel.host', 'enrolment.url', 'cloud.mqtt.alpn'],
    ]);
    const customer = ['network.robotSegment', 'chassis.host', 'network.gateway', 'network.devices'];
    expect(keysFrom('customer')).toEqual(customer);
  });

  it('name the broker of the enrolment when the site file has none, and ask for it when neither has', () => {
    const yaml = 'name: L\nchassis: { host: 192.0.2.3, serial: S }\ncloud: { mqtt: { alpn: x-a-mqtt-ca } }\n';
    const facts = (broker?: string) => networkRequestFacts(parseSite(yaml, 's.yaml'), broker);
    const hosts = (broker: string) =>
      facts(broker).outbound.flatMap(({ use, host }) => (use.startsWith('mqtt') ? [host] : []));
    expect(hosts('broker.example.com')).toEqual(['broker.example.com', 'broker.example.com']);
    expect(facts().open.map(({ id }) => id)).toContain('mqtt-host');
    expect(hosts('127.0.0.1')).toEqual([null, null]);
  });

  it('exclude addresses of this machine', () => {
    const facts = factsOf(
      'name: Box\nchassis: { host: 127.0.0.1, serial: S }\nenrolment: { url: "https://[::1]:7443" }\ncloud: { mqtt: { host: localhost, alpn: x-a-mqtt-ca } }\nnetwork: { gateway: "::1" }\n',
    );
    expect(facts.reservations.flatMap(({ address, name }) => [address, name])).toEqual([null, null, null, null]);
    expect(facts.outbound.map(({ host }) => host)).toEqual([null, null, null, null, null]);
    expect(facts.open.map(({ id }) => id)).toContain('mqtt-host');
  });
});

const fleetSite = (fleet: string) =>
  `name: Lobby\nchassis: { host: 192.0.2.3, serial: SN0007 }\nnetwork: { gateway: 192.0.2.2 }\nfleet: { keyFile: key, ${fleet} }\n`;

describe('the language of the letter', () => {
  it.each([
    ['de', /\b(the|is|are|and|of|with|this|that|by|from|we|you|please|needed|address)\b/i],
    ['en', /\b(der|die|das|ist|und|mit|nicht|kein|von|wir|Sie|bitte|Adresse|erforderlich)\b/i],
  ] as const)(
    'is %s in every word of a PDF of at most three pages, also where points are open',
    async (lang, other) => {
      for (const yaml of [fullSite, smallSite]) {
        const model = letterOf(yaml.replace('Door beside the gateway', 'x'), lang);
        const written = await writeDocumentAs(model, 'pdf', fontsDir);
        expect(written).toMatchObject({ replacedCharacters: 0 });
        const { pages, active } = readPdf(written.content as Uint8Array);
        expect(other.exec(pages.join(' '))?.[0]).toBeUndefined();
        expect(pages.length).toBe(written.pages);
        expect(pages.length).toBeLessThanOrEqual(3);
        expect(active).toEqual([]);
      }
    },
  );
});

describe('the person whom the letter addresses', () => {
  const letterTo = async (customer: string, lang: 'de' | 'en') => {
    const yaml = `${smallSite}timeZone: Europe/Berlin\ncontacts: { customer: { ${customer} } }\n`;
    return (await textOfLetter(yaml, lang)).replace(/\s+/g, ' ');
  };
  const weiss = 'company: Klinik Süd, name: Dr. Jan Weiß, title: Dr., lastName: Weiß';
  const place = 'street: Am Markt 1, postcode: "10115", city: Berlin';

  it('is greeted as a letter of that language greets', async () => {
    for (const [customer, lang, greeting] of [
      [`${weiss}, salutation: Mr`, 'de', 'Sehr geehrter Herr Dr. Weiß,'],
      [`${weiss}, salutation: Ms`, 'de', 'Sehr geehrte Frau Dr. Weiß,'],
      [`${weiss}, salutation: Mr`, 'en', 'Dear Dr. Weiß,'],
      ['name: J. Weiß, lastName: Weiß, salutation: Ms', 'en', 'Dear Ms Weiß,'],
      [weiss, 'de', 'Guten Tag Dr. Jan Weiß,'],
      ['company: Klinik Süd, salutation: Mr', 'de', 'Sehr geehrte Damen und Herren,'],
    ] as const) {
      expect(await letterTo(customer, lang)).toContain(greeting);
    }
  });

  it('has a postal address above the letter', async () => {
    const text = await letterTo(`${weiss}, salutation: Mr, ${place}`, 'de');
    expect(text.replace(/\s/g, '')).toContain('KlinikSüdHerrnDr.JanWeißAmMarkt110115Berlin');
    const abroad = await letterTo(`${weiss}, ${place}, country: Deutschland`, 'en');
    expect(abroad.replace(/\s/g, '')).toContain('Dr.JanWeißAmMarkt110115BerlinDeutschland');
  });
});

describe('the outgoing connections', () => {
  it('include DNS and the time server of the house in both languages', async () => {
    for (const lang of ['de', 'en'] as const) {
      const text = await textOfLetter(fullSite, lang);
      for (const cell of letterTexts[lang].outBasics.flat()) expect(text).toContain(cell);
    }
  });
});

describe('the date of the letter', () => {
  it('is that of the time zone of the site', async () => {
    const facts = factsOf(smallSite);
    const dated = (timeZone: string) =>
      JSON.stringify(networkRequestLetter(facts, { lang: 'de', madeAt: new Date('2026-11-21T23:30:00Z'), timeZone }));
    expect(dated('Europe/Berlin')).toContain('22. November 2026');
    expect(dated('UTC')).toContain('21. November 2026');
  });
});

describe('the heartbeat in the request', () => {
  it.each(['de', 'en'] as const)(
    'is UDP 45301 routed between the listed gateways, and no more, in %s',
    async (lang) => {
      const routed = fleetSite('broadcast: false, robots: [SN0007, SN0008], unicast: [198.51.100.2, 203.0.113.2]');
      const text = await textOfLetter(routed, lang);
      const { heartbeatRouted, heartbeatBroadcast } = letterTexts[lang];
      expect(text).toContain(heartbeatRouted(45301, '192.0.2.2', '198.51.100.2, 203.0.113.2'));
      expect(text).not.toContain(heartbeatBroadcast);
      expect(factsOf(routed).inside.map(({ use }) => use)).not.toContain('heartbeat');
    },
  );

  it('marks the other gateways as open where robots are named and none is listed, and never requests one broadcast domain', async () => {
    const unlisted = fleetSite('broadcast: false, robots: [SN0008]');
    expect(factsOf(unlisted).heartbeat).toEqual({ broadcast: false, unicast: [], routed: true });
    expect(factsOf(unlisted).open.map(({ id }) => id)).toContain('heartbeat-gateways');
    expect(await textOfLetter(unlisted, 'en')).toContain(letterTexts.en.openWhat['heartbeat-gateways']);
    const broadcast = factsOf(fleetSite('robots: [SN0007, SN0008]'));
    expect(broadcast.heartbeat?.routed).toBe(false);
    expect(broadcast.open.find(({ id }) => id === 'heartbeat-segments')?.key).toBe('fleet.unicast');
  });

  it('requests no route for a single robot, nor for addresses of this machine', () => {
    for (const fleet of ['robots: [SN0007]', 'broadcast: false, unicast: [127.0.0.2]', 'robots: []']) {
      const { heartbeat, open } = factsOf(fleetSite(fleet));
      expect([heartbeat?.routed, heartbeat?.unicast]).toEqual([false, []]);
      expect(open.map(({ id }) => id).filter((id) => id.startsWith('heartbeat'))).toEqual([]);
    }
  });
});

describe('the letter', () => {
  it.each(['de', 'en'] as const)('states in %s what the specification requires', async (lang) => {
    const text = await textOfLetter(fullSite, lang);
    const demanded = ['8090', '443', '8883', '5173', '45301', '192.0.2.0/28', 'x-example-mqtt-ca', 'eu-central-1'];
    for (const part of [...demanded, '02:00:00:00:00:0a', 'Lift A', '198.51.100.10', '255.255.255.255']) {
      expect(text).toContain(part);
    }
    const texts = letterTexts[lang];
    for (const part of [texts.reason(8090), texts.noInbound, texts.segmentTitle]) expect(text).toContain(part);
    expect(text).not.toMatch(/\[(open|offen)/);
    expect(text).not.toMatch(/5174|undefined|null|NaN/);
  });

  it('marks missing values of the site file as open, and asks for them at the end', async () => {
    const german = await textOfLetter(smallSite, 'de');
    expect(german.split('[offen: reichen wir nach]').length - 1).toBe(2 + 5);
    expect(german.split('[offen: bitte von Ihnen]').length - 1).toBe(1 + 2);
    const asked = [
      '[offen: Name und Firma des Empfängers]',
      'Rechnername robot-7.local',
      'die MAC-Adresse des Gateways',
    ];
    for (const part of [...asked, 'Sehr geehrte Damen und Herren,']) expect(german).toContain(part);
    const english = await textOfLetter(smallSite, 'en');
    expect(english).toContain('Dear Sir or Madam,');
    expect(english).toContain('[open: please tell us]');
  });

  it('gives the reason for the separation, and the date, in its language', async () => {
    expect(letterTexts.en.reason(8090)).toMatch(/8090.*no authentication/);
    expect(letterTexts.de.reason(8090)).toMatch(/8090.*keine Anmeldung/);
    expect(await textOfLetter(fullSite, 'de')).toContain('21. November 2026');
    expect(await textOfLetter(fullSite, 'en')).toContain('21 November 2026');
  });

  it('asks for the ports of its table, and for no others', async () => {
    const site = (more: string) => `name: Box
chassis: { host: 192.0.2.3, port: 8095, serial: S }
cloud: { mqtt: { host: mqtt.example.com, alpn: x-a-mqtt-ca${more} }, storageUrl: 'https://storage.example.com:9443' }
`;
    const own = site(', port: 8443, fallbackPort: 8444');
    for (const [lang, ports, chassis] of [
      ['en', 'TCP ports 443, 8444 and 9443, optionally also on TCP port 8443,', 'TCP port 8095'],
      ['de', 'die TCP-Ports 443, 8444 und 9443, wahlweise zusätzlich über TCP-Port 8443,', 'TCP-Port 8095'],
    ] as const) {
      const text = await textOfLetter(own, lang);
      expect(text).toContain(ports);
      expect(text).toContain(chassis);
      expect(text).not.toMatch(/8883|8090/);
    }
    // One port for both: nothing is optional.
    expect(await textOfLetter(site(', port: 443'), 'en')).toContain('TCP ports 443 and 9443,');
  });

  it('says which devices the gateway calls, and which it only checks', async () => {
    expect(await textOfLetter(fullSite, 'en')).toContain('Doors, lifts and level changes it does not operate');
    expect(await textOfLetter(fullSite, 'de')).toContain('Türen, Aufzüge und Ebenenwechsel bedient es');
  });

  it('keeps its structure whatever the site file contains', { tags: 'property' }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(oddText(), { minLength: 1, maxLength: 8 }),
        fc.constantFrom('de', 'en' as const),
        async (texts, lang) => {
          let at = 0;
          const next = () => texts[at++ % texts.length] ?? '';
          const facts = factsOf(fullSite);
          const person = () => ({
            ...{ company: next(), name: next(), mail: next(), phone: next(), salutation: 'Mr' as const },
            ...{ title: next(), lastName: next(), street: next(), postcode: next(), city: next(), country: next() },
          });
          const spoiled = {
            ...facts,
            site: next(),
            serial: next(),
            customer: person(),
            operator: person(),
            house: facts.house.map((device) => ({ ...device, name: next() })),
          };
          const model = networkRequestLetter(spoiled, { lang, madeAt, timeZone: 'Europe/Berlin' });
          readMarkup(String((await writeDocumentAs(model, 'html', fontsDir)).content));
          readPdf((await writeDocumentAs(model, 'pdf', fontsDir)).content as Uint8Array);
        },
      ),
      { numRuns: runs(10, 2) },
    );
  });
});

describe('what the letter says about the cloud', () => {
  it.each([
    ['en', /exactly two commands: a version release and a stop/, /notification of a support/, /answers to its own/],
    ['de', /genau zwei Befehle an: eine Versionsfreigabe und einen Stopp/, /Fernwartungssitzung/, /eigenen Anfragen/],
  ] as const)('is two commands, one notification and answers (%s)', async (lang, ...sentences) => {
    const text = await textOfLetter(smallSite, lang);
    for (const sentence of sentences) expect(text).toMatch(sentence);
  });
});
