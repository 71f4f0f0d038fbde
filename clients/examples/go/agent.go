// A small agent in Go: remembers a fact, corrects it, and finds what is believed now.
//
// Usage: agent TARGET BRAIN, with TARGET such as unix:/run/amemd/amemd.sock
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	amem "amem/v1"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: agent TARGET BRAIN")
	}
	target, brain := os.Args[1], os.Args[2]
	// Newer releases call this grpc.NewClient and insecure.NewCredentials; Debian has an older one.
	connection, err := grpc.Dial(target, grpc.WithInsecure())
	if err != nil {
		log.Fatal(err)
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	memory := amem.NewMemoryServiceClient(connection)

	_, err = amem.NewBrainServiceClient(connection).CreateBrain(ctx, &amem.CreateBrainRequest{Brain: brain})
	if err != nil && status.Code(err) != codes.AlreadyExists {
		log.Fatalf("CreateBrain: %v", err)
	}
	ingested, err := memory.Ingest(ctx, &amem.IngestRequest{
		Brain:   brain,
		Options: &amem.WriteOptions{Agent: "agent-go"},
		Events: []*amem.NewEvent{{
			Type: amem.EventType_EVENT_TYPE_FACT,
			Text: "The staging database listens on port 5432",
		}},
	})
	if err != nil {
		log.Fatalf("Ingest: %v", err)
	}
	_, err = memory.Correct(ctx, &amem.CorrectRequest{
		Brain:    brain,
		TargetId: ingested.EventIds[0],
		Event:    &amem.NewEvent{Text: "The staging database listens on port 6432"},
		Reason:   "moved behind a pooler",
	})
	if err != nil {
		log.Fatalf("Correct: %v", err)
	}
	found, err := amem.NewQueryServiceClient(connection).Search(ctx, &amem.SearchRequest{
		Brain: brain,
		Text:  "staging database port",
	})
	if err != nil {
		log.Fatalf("Search: %v", err)
	}
	if len(found.Hits) == 0 {
		log.Fatal("Search found nothing")
	}
	fmt.Println(found.Hits[0].Event.Text)
}
