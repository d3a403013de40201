// Command mongo-server serves the wire protocol of MongoDB for tests: FerretDB 1.24 with its SQLite back end.
// It prints its URI on the first line of stdout and stops on SIGTERM, or when its standard input closes.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/FerretDB/FerretDB/ferretdb"
)

func main() {
	dir := flag.String("dir", "", "folder of the databases (must exist)")
	addr := flag.String("listen", "127.0.0.1:0", "address")
	stdin := flag.Bool("stdin", false, "stop when standard input closes: no orphan outlives a test")
	flag.Parse()
	if *dir == "" {
		fmt.Fprintln(os.Stderr, "mongo-server: -dir is missing")
		os.Exit(2)
	}
	abs, err := filepath.Abs(*dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if *stdin {
		go func() { _, _ = io.Copy(io.Discard, os.Stdin); stop() }()
	}
	f, err := ferretdb.New(&ferretdb.Config{
		Listener:  ferretdb.ListenerConfig{TCP: *addr},
		Handler:   "sqlite",
		SQLiteURL: "file:" + abs + "/", // the slash is needed: a folder, one file per database
		Logger:    slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	fmt.Println(f.MongoDBURI())
	if err := <-done; err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
