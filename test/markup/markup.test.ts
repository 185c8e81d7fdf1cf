import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeMarkup, Markup, markup, visible } from '../../src/lib/markup/index.ts';
import { anyCharacter } from '../text/units.ts';

describe('markup', () => {
  it('escapes every value except Markup', () => {
    const name = '<b onclick="x">&\'</b>';
    const inner = markup`<i>${name}</i>`;
    expect(inner.toString()).toBe('<i>&lt;b onclick=&quot;x&quot;&gt;&amp;&#39;&lt;/b&gt;</i>');
    expect(markup`<p title="${name}">${inner}${null}${3}${[inner, 'a<']}</p>`.toString()).toBe(
      `<p title="${escapeMarkup(name)}">${inner}3${inner}a&lt;</p>`,
    );
    expect(new Markup('<b>').toString()).toBe('<b>');
  });

  it('never turns a text into an element, an attribute or a character that is invalid in XML', {
    tags: 'property',
  }, () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        const escaped = escapeMarkup(text);
        expect(escaped).not.toMatch(/[<>"']/);
        expect(escaped.replace(/&(amp|lt|gt|quot|#39);/g, '')).not.toContain('&');
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
        expect(escaped).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufffe\uffff]/);
        expect(escaped.isWellFormed()).toBe(true);
      }),
    );
  });

  it('replaces invalid characters, and keeps line breaks', () => {
    expect(visible('a\u0000b\u009fc\n\td\ud800')).toBe('a\ufffdb\ufffdc\n\td\ufffd');
  });
});
