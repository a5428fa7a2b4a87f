(() => {
	'use strict';
	// Everything is taken before the page's first script can change it, and no object
	// of ours looks anything up in a prototype that the page could have changed.
	const seen = 'SEEN', token = 'TOKEN', shares = 'SHARES', words = 'WORDS', epoch = EPOCH, win = window;
	// Already done, by another session: nothing is looked up that the page may have
	// changed since. What it may have put in front of our functions hears both names: the
	// first does nothing, and the second nothing that has not been done by then.
	for (const f of [win.alert, win.confirm, win.prompt]) {
		if (typeof f !== 'function' || !f[seen]) continue;
		const heard = f['WORD'];
		if (typeof heard === 'function') heard(!win.document.documentElement);
		return;
	}
	const asString = Function.prototype.toString;
	const { apply, get, getOwnPropertyDescriptor } = Reflect;
	const method = f => Function.prototype.call.bind(f);
	const getter = (o, name) => { const d = getOwnPropertyDescriptor(o, name); return d && d.get };
	const cut = method(String.prototype.slice), look = method(WeakMap.prototype.get);
	const nameOf = getter(win, 'name'), eventOf = getter(win, 'event'), typeOf = method(getter(Event.prototype, 'type'));
	const here = win.location;
	let left = null, off = false, last = epoch;

	// Chrome opens no dialog for a document that is being unloaded, and returns at once
	// (C11). The window may outlive it: a popup's first document has that of the empty one
	// before, and all our functions with it.
	win.addEventListener('pagehide', e => { if (e.isTrusted) left = win.document }, true); // its own, unlike the rest of an event
	win.addEventListener('pageshow', e => { if (e.isTrusted) left = null }, true);
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

	// What our functions print is known to all windows that can reach each other: a frame
	// prints those of its parent. Who has no name for the event neither sees nor sends it.
	// The first document of a popup, while that is held, is read by no script, and may have the
	// window of the next.
	const detailOf = method(getter(CustomEvent.prototype, 'detail')), dispatch = method(EventTarget.prototype.dispatchEvent), Asking = CustomEvent;
	const prints = method(WeakMap.prototype.set), ours = { __proto__: null }, around = ['parent', 'top', 'opener'].map(name => getter(win, name));
	let known = new WeakMap(), joined = false;
	const join = () => {
		for (let i = 0; i < 3 && !joined; i++) {
			const asked = { __proto__: null, known: undefined };
			try { const w = apply(around[i], win, []); if (w && w !== win) dispatch(w, new Asking(shares, { __proto__: null, detail: asked })) } catch { }
			if (!asked.known) continue;
			for (const name in ours) prints(asked.known, ours[name], 'function ' + name + '() { [native code] }');
			known = asked.known;
			joined = true;
		}
	};
	const looks = (name, proxy) => { ours[name] = proxy; prints(known, proxy, 'function ' + name + '() { [native code] }') };
	win.addEventListener(shares, e => { const asked = detailOf(e); if (asked && !asked.known) asked.known = known }, true);
	win.addEventListener('DOMContentLoaded', join, true);
	join();

	WAIT
	const ask = (kind, message, value) => {
		const id = newID();
		message = cut(message, 0, 10240);
		const url = cut(here.href, 0, 2000);
		return wait(token + id + ' ' + kind + ' ' + url.length + ' ' + message.length + ' ' + url + message + cut(value, 0, 65536), id);
	};

	// Sessions say off or on each at its own pace; the newest word counts. Every word has a
	// name of its own, off and on by turns from our epoch: who overhears one knows no other.
	const hear = key => {
		for (let at = 0; at < words.length; at += 16) {
			if (cut(words, at, at + 16) !== key) continue;
			const on = at % 32 === 16, said = epoch + (at - at % 32) / 32;
			if (said < last) return;
			last = said;
			off = !on;
			return on ? again : () => { };
		}
	};
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
			get(target, key, self) {
				if (key === seen) return true;
				return typeof key === 'string' && key.length === 16 && hear(key) || get(target, key, self);
			},
		});
		looks(name, proxy);
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
		// Accepted without a text: the agent may have seen only a part of the default.
		return answer === null ? apply(target, self, args) : answer === true ? value : typeof answer === 'string' ? answer : null;
	});

	const printer = new Proxy(asString, {
		__proto__: null,
		apply(target, self, args) {
			const text = look(known, self), real = text === undefined ? apply(target, self, args) : text;
			if (joined || real !== 'function () { [native code] }') return real;
			join();
			return look(known, self) || real;
		},
	});
	looks('toString', printer);
	Function.prototype.toString = printer;
})();
//# sourceURL=NAME
