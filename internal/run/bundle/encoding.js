// A TextDecoder that knows fatal, which fast-text-encoding does not: Puppeteer reads bodies so.
import 'fast-text-encoding';

const Lax = globalThis.TextDecoder;

globalThis.TextDecoder = class TextDecoder extends Lax {
  constructor(label = 'utf-8', {fatal = false} = {}) {
    super(label);
    this.fatal = Boolean(fatal);
  }

  decode(input = new Uint8Array(), options) {
    const given = ArrayBuffer.isView(input) ? new Uint8Array(input.buffer, input.byteOffset, input.byteLength) : new Uint8Array(input);
    const text = super.decode(given, options);
    if (!this.fatal || !text.includes('\ufffd')) return text;
    // The sign for what cannot be read may be the text's own: then it encodes to the same bytes.
    const again = new TextEncoder().encode(text);
    const from = given.length - again.length; // of a byte order mark, where decoding drops it
    if ((from === 0 || from === 3) && again.every((b, i) => b === given[from + i])) return text;
    throw new TypeError(`The encoded data was not valid for encoding ${this.encoding}`);
  }
};
