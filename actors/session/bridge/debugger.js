// The answer is put into the frame of this call, and nowhere else. A client that resumes a
	// page without one, also by leaving it, is asked again or leaves it to the next. A
	// client that steps stays in here, and gets the call anew: in the inner loop, since a
	// step that comes to the debugger statement has the next call not stop there.
	function stop(id) {
		let answer, tries = 0;
		// A closure keeps it out of the frame, where a compiled function reads nothing anew.
		const given = () => answer;
		while (given() === undefined && tries < 3) {
			debugger;
			for (let steps = 0; steps < 16; steps++);
			tries++;
		}
		return id === undefined ? id : answer;
	}
	// Not Math.random, which begins alike in all documents under --random-seed.
	const dice = win.crypto.getRandomValues(new Uint32Array(2)), realm = (dice[0] >>> 0) + '-' + (dice[1] >>> 0);
	let count = 0;
	const newID = () => realm + '.' + ++count;
	// A popup that is loading an address begins with an empty document, in which the
	// debugger does not stop (measured): what its opener asks there is given back to
	// Chrome. One that stays empty soon has the base of its opener.
	const clock = win.performance, { now: time } = Performance.prototype, now = () => apply(time, clock, []), at = now();
	const opened = !!win.opener, baseOf = getter(Node.prototype, 'baseURI');
	const begins = () => opened && here.href === 'about:blank' && apply(baseOf, win.document, []) === 'about:blank' && now() - at < 1000;
	const wait = (text, id) => {
		const answer = apply(stop, text, [id]);
		return answer !== undefined ? answer : begins() ? null : false;
	};
	const ready = () => true, again = ready;