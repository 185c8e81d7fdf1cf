import { HEARTBEAT_PORT } from '../../site/index.ts';
import { type Block, type DocumentModel, type Language, type Row, type Span, table, type Words } from '../document.ts';
import { localeOf } from '../locale.ts';
import type { NetworkRequestFacts } from '../network-request.result.ts';
import { letterDe } from '../texts/letter.de.ts';
import { letterEn } from '../texts/letter.en.ts';

type LetterTexts = typeof letterEn;
export const letterTexts: Readonly<Record<Language, LetterTexts>> = { de: letterDe, en: letterEn };

/**
 * The letter to the customer's IT. Missing facts are marked as open, with the party that has to provide them.
 */
export function networkRequestLetter(
  facts: NetworkRequestFacts,
  { lang, madeAt, timeZone }: { readonly lang: Language; readonly madeAt: Date; readonly timeZone: string },
): DocumentModel {
  const texts = letterTexts[lang];
  const title = texts.subject(facts.site);
  return {
    lang,
    title,
    footer: texts.footer(facts.site, facts.serial),
    madeAt,
    blocks: [
      letterhead(facts, texts, localeOf(lang, timeZone).day(madeAt)),
      { kind: 'title', text: title, isSubject: true },
      { kind: 'paragraph', text: texts.subjectLine(facts.serial) },
      {
        kind: 'paragraph',
        text: greeting(facts.customer, texts),
      },
      { kind: 'paragraph', text: texts.intro },
      { kind: 'list', items: texts.asks(portsOf(facts)), ordered: true },
      { kind: 'paragraph', text: [{ text: texts.noInbound, bold: true }] },
      ...segment(facts, texts),
      ...dhcp(facts, texts),
      ...outgoing(facts, texts),
      { kind: 'heading', text: texts.inTitle },
      { kind: 'list', items: texts.inText },
      ...house(facts, texts),
      ...inside(facts, texts),
      ...openPoints(facts, texts),
      { kind: 'heading', text: texts.closingTitle },
      { kind: 'paragraph', text: texts.closing },
      ...questions(facts, texts),
      { kind: 'paragraph', text: texts.regards },
      { kind: 'paragraph', text: sender(facts, texts) },
    ],
  };
}

/** By salutation and last name, else by the whole name, else without a name. */
function greeting({ salutation, title, lastName, name }: NetworkRequestFacts['customer'], texts: LetterTexts): string {
  if (salutation !== null && lastName !== null) return texts.greetingFormal(salutation, title, lastName);
  return name === null ? texts.greeting : texts.greetingNamed(name);
}

function open(text: string): Span {
  return { text, tone: 'open' };
}

function letterhead({ customer, operator }: NetworkRequestFacts, texts: LetterTexts, date: string): Block {
  const lines = (values: readonly (string | null)[]) => values.filter((value) => value !== null);
  const addressed = customer.salutation === null ? customer.name : texts.addressee(customer.salutation, customer.name);
  const to = lines([customer.company, addressed, ...addressOf(customer), customer.mail]);
  const from = lines([
    operator.company,
    operator.name,
    ...addressOf(operator),
    operator.mail,
    operator.phone === null ? null : texts.phone(operator.phone),
  ]);
  const hasName = ({ company, name }: NetworkRequestFacts['customer']) => company !== null || name !== null;
  return {
    kind: 'letterhead',
    to: hasName(customer) ? to : [[open(texts.openRecipient)], ...to],
    from: hasName(operator) ? from : [[open(texts.openSender)], ...from],
    place: date,
  };
}

/** Street, postcode with city, and country. */
function addressOf({ street, postcode, city, country }: NetworkRequestFacts['customer']): readonly (string | null)[] {
  const place = [postcode, city].filter((one) => one !== null).join(' ');
  return [street, place === '' ? null : place, country];
}

function segment(facts: NetworkRequestFacts, texts: LetterTexts): Block[] {
  const { segment: range } = facts;
  return [
    { kind: 'heading', text: texts.segmentTitle },
    { kind: 'paragraph', text: texts.reason(insidePort(facts, 'chassis')) },
    { kind: 'list', items: texts.segmentAsks },
    { kind: 'facts', rows: [[texts.segmentRange, range === null ? [open(texts.openCustomer)] : [code(range)]]] },
    ...heartbeatRoute(facts, texts),
  ];
}

/** Needed only between robots with a segment each. */
function heartbeatRoute({ heartbeat, reservations }: NetworkRequestFacts, texts: LetterTexts): Block[] {
  if (heartbeat === null || !heartbeat.routed) return [];
  const { unicast } = heartbeat;
  if (unicast.length === 0) {
    const text = [texts.heartbeatRoutedOpen(HEARTBEAT_PORT), open(texts.openOperator)];
    return [{ kind: 'paragraph', text }];
  }
  const own = reservations.find(({ device }) => device === 'gateway')?.address ?? texts.openCustomer;
  return [{ kind: 'paragraph', text: texts.heartbeatRouted(HEARTBEAT_PORT, own, unicast.join(', ')) }];
}

/** The ports of section 3 that are used at the site: enrolment is done before delivery. */
function portsOf({ outbound }: NetworkRequestFacts): { needed: number[]; optional: number[] } {
  const of = (...needs: readonly string[]) =>
    [...new Set(outbound.filter(({ need }) => needs.includes(need)).map(({ port }) => port))].sort((a, b) => a - b);
  const needed = of('needed', 'in-session');
  return { needed, optional: of('optional').filter((port) => !needed.includes(port)) };
}

function insidePort({ inside: connections }: NetworkRequestFacts, of: 'chassis'): number {
  return connections.find(({ use }) => use === of)?.port ?? 0;
}

function dhcp({ reservations, tablet }: NetworkRequestFacts, texts: LetterTexts): Block[] {
  const rows: Row[] = reservations.map(({ device, mac, address, name }) => ({
    cells: [
      texts.device[device],
      mac === null ? [open(texts.openOperator)] : [code(mac)],
      address === null
        ? [open(texts.openCustomer), ...(name === null ? [] : [` (${texts.byName(name)})`])]
        : [code(address)],
      texts.fixed,
    ],
  }));
  const isFixed = tablet.mac !== null && tablet.address !== null;
  rows.push({
    cells: [
      texts.device.tablet,
      tablet.mac === null ? texts.none : [code(tablet.mac)],
      isFixed ? [code(tablet.address ?? '')] : texts.none,
      isFixed ? texts.fixed : texts.plainDhcp,
    ],
  });
  return [
    { kind: 'heading', text: texts.dhcpTitle },
    table(texts.dhcpHead, [4, 6, 7, 7], rows),
    { kind: 'paragraph', text: texts.dhcpNote },
  ];
}

function outgoing({ region, outbound }: NetworkRequestFacts, texts: LetterTexts): Block[] {
  const where = region === 'eu-central-1' ? texts.frankfurt : region;
  const rows: Row[] = outbound.map(({ use, host, port, alpn, need, readsTime }) => ({
    cells: [
      host === null ? [open(texts.openOperator)] : [code(host)],
      `${texts.outProtocol[use](port)}${alpn === null ? '' : `, ${texts.alpn(alpn)}`}`,
      `${texts.outPurpose[use]}${readsTime && use !== 'time' ? `; ${texts.outPurpose.time}` : ''}`,
      texts.need[need],
    ],
  }));
  return [
    { kind: 'heading', text: texts.outTitle },
    {
      kind: 'paragraph',
      text: outbound.some(({ use }) => use === 'time') ? texts.outRegionButTime(where) : texts.outRegion(where),
    },
    table(texts.outHead, [8, 6, 8, 7], [...rows, ...texts.outBasics.map((cells) => ({ cells }))]),
    { kind: 'list', items: texts.outNotes },
  ];
}

function house({ house: devices, onGateway }: NetworkRequestFacts, texts: LetterTexts): Block[] {
  const heading: Block = { kind: 'heading', text: texts.houseTitle };
  const own = onGateway.map(({ name, kind, port }) => `${name ?? texts.houseKind[kind]} (TCP ${port})`);
  const here: Block[] = own.length === 0 ? [] : [{ kind: 'paragraph', text: texts.onGateway(own.join(', ')) }];
  if (devices.length === 0) return [heading, { kind: 'paragraph', text: texts.houseNone }, ...here];
  const rows = devices.map(({ name, kind, host, port }) => ({
    cells: [name ?? texts.houseKind[kind], texts.houseKind[kind], [code(host)], String(port)],
  }));
  return [heading, { kind: 'paragraph', text: texts.houseText }, table(texts.houseHead, [7, 6, 8, 3], rows), ...here];
}

function inside({ inside: connections }: NetworkRequestFacts, texts: LetterTexts): Block[] {
  const rows = connections.map(({ use, protocol, port }) => {
    const [from = '', to = '', kind = '', purpose = ''] = texts.inside[use];
    const way = use === 'heartbeat' ? texts.heartbeatBroadcast : kind;
    return { cells: [from, to, `${port} ${protocol.toUpperCase()}, ${way}`, purpose] };
  });
  return [
    { kind: 'heading', text: texts.insideTitle },
    table(texts.insideHead, [6, 5, 7, 7], rows),
    { kind: 'paragraph', text: texts.commissioning },
  ];
}

function openText(id: string, { outbound }: NetworkRequestFacts, texts: LetterTexts): string | undefined {
  if (id !== 'alpn') return texts.openWhat[id];
  const fallback = outbound.find(({ use }) => use === 'mqtt-443');
  return fallback && texts.openAlpn(fallback.port);
}

/** Open sender and recipient are shown in the letterhead only. */
function openPoints(facts: NetworkRequestFacts, texts: LetterTexts): Block[] {
  const { open: points } = facts;
  const listOf = (from: 'operator' | 'customer', text: string): Block[] => {
    const items = points.flatMap((point) => (point.from === from ? (openText(point.id, facts, texts) ?? []) : []));
    if (items.length === 0) return [];
    return [
      { kind: 'paragraph', text },
      { kind: 'list', items },
    ];
  };
  const lists = [...listOf('customer', texts.openFromYou), ...listOf('operator', texts.openFromUs)];
  return [
    { kind: 'heading', text: texts.openTitle },
    ...(lists.length === 0 ? [{ kind: 'paragraph', text: texts.openNone } as const] : lists),
  ];
}

function questions({ operator }: NetworkRequestFacts, texts: LetterTexts): Block[] {
  const reach = [operator.name, operator.mail, operator.phone === null ? null : texts.phone(operator.phone)].filter(
    (one) => one !== null,
  );
  if (operator.mail === null && operator.phone === null) return [];
  return [{ kind: 'paragraph', text: texts.questions(reach.join(', ')) }];
}

function sender({ operator }: NetworkRequestFacts, texts: LetterTexts): Words {
  const lines = [operator.name, operator.company].filter((line) => line !== null);
  return lines.length === 0 ? [open(texts.openSender)] : lines.join('\n');
}

function code(text: string): Span {
  return { text, code: true };
}
