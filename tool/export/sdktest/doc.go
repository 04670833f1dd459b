// Package sdktest holds package export to the Go types of the providers' own SDKs: what export writes is read by them and
// written again without a loss, and what they write is read by export. It is a module of its own, so that no SDK is in the
// library's; it has tests alone.
package sdktest
