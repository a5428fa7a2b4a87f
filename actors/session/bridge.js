(() => {
	'use strict';
	// Everything is taken before the page's first script can change it, and no object
	// of ours looks anything up in a prototype that the page could have changed.
	const mark = 'MARK', token = 'TOKEN', epoch = EPOCH, win = window;
	// Already done, by another session: nothing is looked up that the page may have
	// changed since.
	for (const f of [win.alert, win.confirm, win.prompt]) {
		const control = typeof f === 'function' && f[mark];
		if (control) { control(epoch, true, !win.document.documentElement); return }
	}
	const asString = Function.prototype.toString;
	const { apply, get, getOwnPropertyDescriptor } = Reflect;
	const method = f => Function.prototype.call.bind(f);
	const getter = (o, name) => { const d = getOwnPropertyDescriptor(o, name); return d && d.get };
	const cut = method(String.prototype.slice), known = new WeakMap(), look = method(WeakMap.prototype.get);
	const nameOf = getter(win, 'name'), eventOf = getter(win, 'event'), typeOf = method(getter(Event.prototype, 'type'));
	const here = win.location;
	let left = null, off = false, last = epoch;

	// Chrome opens no dialog for a document on its way out, and returns at once (C11).
	// The window may outlive it: a popup's first document has that of the empty one
	// before, and all that is ours with it.
	win.addEventListener('pagehide', () => { left = win.document }, true);
	win.addEventListener('pageshow', () => { left = null }, true);
	const unloading = () => {
		if (left === win.document) return true;
		const e = apply(eventOf, win, []);
		if (!e || !e.isTrusted) return false;
		const type = typeOf(e);
		return type === 'beforeunload' || type === 'unload';
	};

	// Nor for a frame whose sandbox does not allow it, or that of one around it. Which
	// flags a document has is settled when it is made.
	const boxed = (() => {
		try {
			for (let element = win.frameElement; element; element = element.ownerDocument.defaultView.frameElement) {
				const box = element.getAttribute('sandbox');
				if (typeof box === 'string' && !/(^|\s)allow-modals(\s|$)/i.test(box)) return true;
			}
		} catch { }
		return false;
	})();

	WAIT
	const ask = (kind, message, value) => {
		const id = newID();
		message = cut(message, 0, 10240);
		const url = cut(here.href, 0, 2000);
		return wait(token + id + ' ' + kind + ' ' + url.length + ' ' + message.length + ' ' + url + message + cut(value, 0, 65536), id);
	};

	// Sessions say on or off each at its own pace; the newest word counts.
	const control = (epoch, on, begins) => { if (epoch >= last) { last = epoch; off = !on; if (on) again(begins) } };
	const own = (name, make) => {
		const native = win[name];
		if (typeof native !== 'function' || apply(asString, native, []) !== 'function ' + name + '() { [native code] }') return;
		const proxy = new Proxy(native, {
			__proto__: null,
			apply(target, self, args) {
				if (off || boxed || unloading() || !ready()) return apply(target, self, args);
				// Throws what the real one throws for what is no window of this origin.
				if (self !== undefined && self !== null && self !== win) apply(nameOf, self, []);
				return make(target, self, args);
			},
			get(target, key, self) { return key === mark ? control : get(target, key, self) },
		});
		known.set(proxy, 'function ' + name + '() { [native code] }');
		win[name] = proxy;
	};
	own('alert', (target, self, args) => {
		const answer = ask('alert', args.length ? `${args[0]}` : '', '');
		if (answer === null) return apply(target, self, args);
	});
	own('confirm', (target, self, args) => {
		const answer = ask('confirm', args[0] === undefined ? '' : `${args[0]}`, '');
		return answer === null ? apply(target, self, args) : answer === true;
	});
	own('prompt', (target, self, args) => {
		const message = args[0] === undefined ? '' : `${args[0]}`, value = args[1] === undefined ? '' : `${args[1]}`;
		const answer = ask('prompt', message, value);
		// Accepted without a text: whoever does that may have seen but a part of the default.
		return answer === null ? apply(target, self, args) : answer === true ? value : typeof answer === 'string' ? answer : null;
	});

	const printer = new Proxy(asString, {
		__proto__: null,
		apply(target, self, args) { const text = look(known, self); return text === undefined ? apply(target, self, args) : text },
	});
	known.set(printer, 'function toString() { [native code] }');
	Function.prototype.toString = printer;
})();
//# sourceURL=NAME
