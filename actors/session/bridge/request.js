// A request that only the supervisor answers. The message travels by a binding, and
	// so never over the network, wherever the request may arrive.
	const proof = 'PROOF';
	let tell;
	// A document that begins while its page moves to another process may have us before
	// it has the binding, which then comes with the next question.
	const take = () => {
		if (typeof tell !== 'function') tell = win['BINDING'];
		deleteProperty(win, 'BINDING');
	};
	const Request = win.XMLHttpRequest, { open, send } = Request.prototype, { getRandomValues } = Object.getPrototypeOf(win.crypto);
	const bodyOf = getter(Request.prototype, 'responseText'), crypto = win.crypto, deleteProperty = Reflect.deleteProperty, parse = JSON.parse;
	const random = new Uint32Array(4), nowhere = 'https://HOST/', origin = win.origin;
	const home = cut(origin, 0, 4) === 'http' ? origin + '/PATH/' : '';
	const clock = win.performance, { now: time } = Performance.prototype, now = () => apply(time, clock, []);
	let place = '', asked, at = 0, tries = 0;
	// No two have the same name, so that who sees one pass knows nothing of the next.
	const newID = () => {
		apply(getRandomValues, crypto, [random]);
		return random[0] + '-' + random[1] + '-' + random[2] + '-' + random[3];
	};
	const request = (where, id) => {
		try {
			const x = new Request();
			apply(open, x, ['GET', where + 'LABEL.' + id, false]);
			apply(send, x, [null]);
			const body = apply(bodyOf, x, []);
			if (cut(body, 0, proof.length) === proof) return cut(body, proof.length);
		} catch { }
	};
	const wait = (text, id) => {
		tell(text);
		const answer = request(place, id);
		if (answer !== undefined) return parse(answer);
		// The supervisor is gone, or another client took the request: dismissed, and no
		// native dialog, which no session might see (C43).
		tell(token + '-' + id);
		return false;
	};
	// Where requests are heard, and whether anywhere: a document finds out before its
	// first script. What is asked where no session hears is asked natively.
	const heard = where => {
		const id = newID();
		tell(token + '?' + id);
		return request(where, id) !== undefined;
	};
	const works = () => {
		take();
		if (typeof tell !== 'function') return false;
		tries++;
		asked = win.document;
		at = now();
		place = heard(nowhere) ? nowhere : home && heard(home) ? home : '';
		tell(token + (place ? '+' : '-'));
		return place !== '';
	};
	// The first document of a popup that is held is not heard yet, and its window may be
	// that of the next.
	const ready = () => place !== '' || (tries < 3 || asked !== win.document || now() - at > 1000) && works();
	// Another session, or link, asks anew, but for the second at a document's beginning.
	const again = begins => {
		take();
		if (!begins || place === '' || asked !== win.document) works();
	};
	const persisted = method(getter(PageTransitionEvent.prototype, 'persisted'));
	win.addEventListener('pageshow', e => { if (e.isTrusted && persisted(e)) works() }, true);
	works();