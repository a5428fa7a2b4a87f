package token

// Private is the rule about modes, which a test cannot meet as another user.
var Private = isPrivateMode
